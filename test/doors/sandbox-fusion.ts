// The SandboxFusion door with third-party clients.
import t from 'tap'
import { ask } from './clients.ts'
import { startDoorService } from './service.ts'

const { withKey } = await startDoorService(t, 'python,cpp')

t.test('sandbox-fusion of PyPI', async (t) => {
  const script = `
import json, os, base64, asyncio
from sandbox_fusion import run_code, run_code_async, RunCodeRequest, set_endpoint, summary_run_code_result
set_endpoint(os.environ["SERVER"])
def ask(**more): return run_code(RunCodeRequest(**more), max_attempts=1, client_timeout=60)
good = ask(code="print(input(), open('a').read()); open('b','w').write('left')", language="python", stdin="one",
  files={"a": base64.b64encode(b"two").decode()}, fetch_files=["b"])
late = ask(code="import time; time.sleep(9)", language="python", run_timeout=0.5)
bad = ask(code="int main( {", language="cpp")
again = asyncio.run(run_code_async(RunCodeRequest(code="print(1)", language="python")))
print(json.dumps({"good": good.status, "out": good.run_result.stdout, "left": good.files,
  "late": late.run_result.status, "bad": [bad.status, bad.compile_result.return_code], "again": again.run_result.stdout}))`
  t.match(await ask('python', script, { SERVER: withKey }), {
    good: 'Success',
    out: 'one two\n',
    left: { b: Buffer.from('left').toString('base64') },
    late: 'TimeLimitExceeded',
    bad: ['Failed', 1],
    again: '1\n',
  })
})
