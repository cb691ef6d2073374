// `make test-doors`: each door with clients that others published, against a whole service.
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import { createTestDatabase } from '../helper/database.ts'
import { startServer } from '../helper/server.ts'
import { startWorkerProcess } from '../helper/worker.ts'
import { ask, installClients } from './clients.ts'

t.setTimeout(900_000)
await installClients()
const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
await startWorkerProcess(t, url, { LANGUAGES: 'python,cpp' })
const { port, issue } = await startServer(t, sql, { url })
const key = await issue()
const service = `http://127.0.0.1:${port}`
const withKey = `http://any:${key}@127.0.0.1:${port}`

/** For clients that can send no key: adds it on the way. */
async function startProxy(): Promise<string> {
  const proxy = createServer((incoming, response) => {
    const { method, url: path, headers } = incoming
    const forwarded = httpRequest(
      `${service}${path}`,
      { method, headers: { ...headers, 'x-api-key': key } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      },
    )
    incoming.pipe(forwarded)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => proxy.close())
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

t.test('Piston: piston-client of npm', async (t) => {
  const script = `
    import { piston } from 'piston-client'
    const client = piston({ server: process.env.SERVER })
    const runtimes = await client.runtimes()
    const good = await client.execute('python', 'import sys; print(input(), sys.argv[1:])', { stdin: 'one', args: ['two'] })
    const bad = await client.execute({ language: 'cpp', files: [{ content: 'int main( {' }] })
    const none = await client.execute('klingon', '')
    console.log(JSON.stringify({ runtimes, good, bad, none }))`
  t.match(await ask('node', script, { SERVER: await startProxy() }), {
    runtimes: [{ language: 'cpp' }, { language: 'python', version: /^3/ }],
    good: { language: 'python', run: { stdout: "one ['two']\n", code: 0, signal: null } },
    bad: { run: { code: 1, stderr: /error/ } },
    none: { message: String },
  })
})

t.test('Piston: piston-api of npm', async (t) => {
  const script = `
    import { PistonClient } from 'piston-api'
    const client = new PistonClient({ baseUrl: process.env.SERVER })
    const runtimes = await client.getRuntimes({ language: 'python' })
    const good = await client.run({ language: 'python', code: 'print(input())', stdin: 'one' })
    const failed = await client.run({ language: 'python', code: 'exit(3)' })
    const error = await client.run({ language: 'klingon', code: '' }).catch(({ message }) => message)
    console.log(JSON.stringify({ runtimes, good, failed, error }))
    process.exit()`
  t.match(await ask('node', script, { SERVER: withKey }), {
    runtimes: [{ language: 'python' }],
    good: { run: { stdout: 'one\n', code: 0 } },
    failed: { run: { code: 3 } },
    error: /klingon-\* runtime is unknown/,
  })
})

t.test('Piston: ultra-piston of PyPI', async (t) => {
  const script = `
import json, os
from ultra_piston import PistonClient, File
client = PistonClient(base_url=os.environ["SERVER"] + "/api/v2/", api_key=os.environ["KEY"])
runtimes = [r.language for r in client.get_runtimes()]
good = client.post_execute(language="python3", version="3.x", file=File(content="print(input())"), stdin="one")
dead = client.post_execute(language="python", version="*", file=File(content="import os; os.abort()"))
try:
    client.post_execute(language="klingon", version="*", file=File(content="")); error = None
except Exception as e: error = type(e).__name__ + ": " + str(e)
print(json.dumps({"runtimes": runtimes, "good": good.run.stdout, "code": good.run.code, "signal": dead.run.signal, "error": error}))`
  t.match(await ask('python', script, { SERVER: service, KEY: key }), {
    runtimes: ['cpp', 'python'],
    good: 'one\n',
    code: 0,
    signal: 'SIGABRT',
    error: String,
  })
})

t.test('SandboxFusion: sandbox-fusion of PyPI', async (t) => {
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
