// The SandboxFusion door with verl's reward function: its scores, and that a fault of the service is no score.
import t from 'tap'
import { ask } from './clients.ts'
import { startDoorService } from './service.ts'

const { withKey, startProxy, startAnother } = await startDoorService(t, 'python,cpp')

/** Loads one module of the package, because the others need the dependencies of a training pipeline. */
const load = `
import importlib.util, json, os, sys
from pathlib import Path
folder = Path(importlib.util.find_spec("verl").origin).parent / "utils/reward_score/sandbox_fusion"
spec = importlib.util.spec_from_file_location("reward", folder / "__init__.py", submodule_search_locations=[str(folder)])
reward = importlib.util.module_from_spec(spec); sys.modules["reward"] = reward; spec.loader.exec_module(reward)
url = os.environ["SERVER"] + "/run_code"
def score(code, cases, **more):
  value, told = reward.compute_score(url, None, 1024, "\`\`\`python\\n" + code + "\\n\`\`\`", cases, **more)
  return [value, [one["status"] for one in told]]
`

t.test('verl of PyPI scores programs', async (t) => {
  const script = `${load}
add = {"inputs": ["1 2", "3 4"], "outputs": ["3", "7\\n"]}
call = {"inputs": ["1\\n2"], "outputs": ["3"], "fn_name": "add"}
cpp, _ = reward.check_correctness(url, add, "int main( {", language="cpp")
print(json.dumps({
  "right": score("print(sum(map(int, input().split())))", add),
  "half": score("input(); print(3)", add),
  "function": score("def add(a, b): return a + b", call),
  "asserts": score("x = 1", {"assert_case": ["assert x == 1", "assert x == 2"]}),
  "error": score("1/0", add),
  "late": score("import time; time.sleep(60)", add, timeout=2),
  "compiler": cpp,
}))`
  t.strictSame(await ask('python', script, { SERVER: withKey }), {
    right: [1, ['success', 'success']],
    half: [0.5, ['success', 'wrong_answer']],
    function: [1, ['success']],
    asserts: [0.5, ['success', 'runtime_error']],
    error: [0, ['runtime_error', 'runtime_error']],
    late: [0, ['timeout', 'timeout']],
    compiler: [-4, -4],
  })
})

t.test('a fault of the service is asked for again, and no program’s', async (t) => {
  const script = `${load}
one = {"inputs": ["1"], "outputs": ["1"]}
results, told = reward.check_correctness(url, one, "print(input())")
print(json.dumps([results, [one["status"] for one in told]]))`
  const full = await startAnother(t, { queueCapacity: 0 })
  const once = await startProxy(full)
  t.strictSame(await ask('python', script, { SERVER: once }), [[true], ['success']])
  const { username, password } = new URL(withKey)
  const always = full.replace('//', `//${username}:${password}@`)
  t.strictSame(await ask('python', script, { SERVER: always }), [[-1], ['api_error']])
})
