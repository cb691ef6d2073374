// `make run` as a new user meets it: the printed line works as pasted, Ctrl-C ends everything, the next start knows
// what the first one made.
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')

// A folder of its own, so that a `make run` in the checkout is left alone; under one that only root may enter, as
// /root is.
const folder = mkdtempSync(join(tmpdir(), 'runledger-dev-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
for (const name of ['Procfile', 'src', 'node_modules', 'package.json'])
  symlinkSync(join(root, name), join(folder, name))

let firstKey = ''

t.test('the first start prints a line that works as pasted', async (t) => {
  const service = await startService(t)
  const record = JSON.parse((await run('sh', ['-c', service.line])).stdout)
  t.match(record, { status: 'completed', verdict: 'AC', stdout: '5050\n' })
  firstKey = service.key
  t.equal(statSync(join(folder, '.data/key')).mode & 0o777, 0o600)
  t.equal(statSync(join(folder, '.data/database-url')).mode & 0o777, 0o600)
  t.notMatch(service.output(), /password|postgres:\/\//)

  await t.test('Ctrl-C ends it cleanly, with all it started', async (t) => {
    service.child.kill('SIGINT')
    t.strictSame(await once(service.child, 'exit'), [0, null])
    t.match(service.output(), /web\.stopped/)
    t.match(service.output(), /worker\.stopped/)
    t.strictSame(findProcesses(folder), [])
  })
})

t.test('the next start prints the same key, and the ledger is still there', async (t) => {
  const service = await startService(t)
  t.equal(service.key, firstKey)
  const record = JSON.parse((await run('sh', ['-c', service.line])).stdout)
  t.match(record, { verdict: 'AC' })

  await t.test('a process that is killed is started again', async (t) => {
    const [worker] = findProcesses(folder, 'src/worker.ts')
    process.kill(worker!, 'SIGKILL')
    t.match(JSON.parse((await run('sh', ['-c', service.line])).stdout), { verdict: 'AC' })
  })

  await t.test('when it is killed hard itself, nothing of it goes on', async (t) => {
    service.child.kill('SIGKILL')
    await once(service.child, 'exit')
    for (let left = 600; left > 0 && findProcesses(folder).length > 0; left -= 1) {
      await new Promise((wait) => setTimeout(wait, 100))
    }
    t.strictSame(findProcesses(folder), [])
  })
})

async function startService(
  t: Test,
): Promise<{ child: ChildProcess; line: string; key: string; output: () => string }> {
  const child = spawn('node', ['src/dev/dev.ts'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Headers in a new directory are 15 seconds of CPU, which nothing here waits for.
    env: { ...process.env, CPP_PRECOMPILED_HEADERS: 'off' },
  })
  t.teardown(() => child.kill('SIGKILL'))
  let text = ''
  await new Promise<void>((done, fail) => {
    const read = (chunk: Buffer): void => {
      text += chunk.toString()
      if (text.includes('Ctrl-C')) done()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', () => fail(new Error(`make run ended:\n${text}`)))
  })
  const line = /^ {2}(curl .*)$/m.exec(text)?.[1] ?? ''
  return { child, line, key: readFileSync(join(folder, '.data/key'), 'utf8'), output: () => text }
}

/** Pids whose working directory or arguments are in a folder. */
function findProcesses(inFolder: string, argument = ''): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
        return command.includes(argument) && environment.includes(`PWD=${inFolder}`)
      } catch {
        return false
      }
    })
}
