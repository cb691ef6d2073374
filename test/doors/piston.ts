// The Piston door with third-party clients.
import t from 'tap'
import { ask } from './clients.ts'
import { startDoorService } from './service.ts'

const { service, withKey, key, startProxy } = await startDoorService(t, 'python,cpp')

t.test('piston-client of npm', async (t) => {
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

t.test('piston-api of npm', async (t) => {
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

t.test('ultra-piston of PyPI', async (t) => {
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
