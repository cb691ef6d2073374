// `make run` as a new user sees it: the printed line works as pasted, Ctrl-C ends everything, and the next start uses what
// the first one made.
import { execFile, spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'
import { bareEnvironment } from '../helper/bare-environment.ts'
import { copyCheckout } from '../helper/copied-checkout.ts'
import { openTestDatabase } from '../helper/database.ts'

const run = promisify(execFile)

// A separate folder, so that the test leaves a `make run` in the checkout alone. It is under a folder that only root may
// enter, like /root.
const folder = copyCheckout(t)

let firstKey = ''

t.test('the first start prints a line that works as pasted', async (t) => {
  const service = await startService(t)
  const record = JSON.parse((await run('sh', ['-c', service.line])).stdout)
  t.match(record, { status: 'completed', verdict: 'AC', stdout: '5050\n' })
  firstKey = service.key
  t.match(service.output(), new RegExp(`^  http://localhost:\\d+/#key=${firstKey}$`, 'm'))
  const receipt = await fetch(
    /'(http:\/\/localhost:\d+)\//.exec(service.line)?.[1] + '/receipt-key',
  )
  t.equal(receipt.status, 200, 'it signs receipts')
  t.equal(statSync(join(folder, '.data/receipt-key.pem')).mode & 0o777, 0o600)
  t.equal(statSync(join(folder, '.data/key')).mode & 0o777, 0o600)
  t.equal(statSync(join(folder, '.data/database-url')).mode & 0o777, 0o600)
  t.notMatch(service.output(), /password|postgres:\/\//)

  await t.test('the command line finds its database, and its operator’s key', async (t) => {
    const runledger = (words: readonly string[], more = {}) =>
      run(join(folder, 'runledger'), words, { env: { ...bareEnvironment, ...more } })
    const { stdout } = await runledger(['keys', 'list'])
    const keys = stdout.trim().split('\n').map((line) => JSON.parse(line)) // prettier-ignore
    t.match(new Set(keys.map(({ account }) => account)), new Set(['local']))
    t.match(
      keys.find(({ label }) => label === firstKey.slice(0, 12)),
      { tier: 'unlimited' },
    )
    const [, origin = ''] = /listens on (http:\/\/localhost:\d+)/.exec(service.output()) ?? []
    const seen = await runledger(['top', '--json'], { RUNLEDGER_URL: origin })
    t.match(JSON.parse(seen.stdout), { load: { workers: 1 } })
  })

  await t.test('a second start says where the first one is, and leaves nothing', async (t) => {
    const second = startOnce()
    t.strictSame([second.status, second.stdout], [1, ''])
    t.match(
      second.stderr,
      /^Runledger already runs in this checkout: http:\/\/localhost:\d+, with its key in \.data\/key \(process \d+\)\n$/,
    )
    t.strictSame(second.left, [])
  })

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
    const [worker] = findProcesses(folder, 'src/worker/worker.ts')
    process.kill(worker!, 'SIGKILL')
    t.match(JSON.parse((await run('sh', ['-c', service.line])).stdout), { verdict: 'AC' })
  })

  await t.test('when it is killed hard itself, nothing of it goes on', async (t) => {
    service.child.kill('SIGKILL')
    await once(service.child, 'exit')
    while (findProcesses(folder).length > 0) await new Promise((wait) => setTimeout(wait, 100))
    t.pass('they have ended')
  })
})

t.test('a start that fails says why in a sentence, and leaves no folder', async (t) => {
  const file = join(folder, '.data/postgres/data/PG_VERSION')
  const version = readFileSync(file)
  writeFileSync(file, '9\n')
  const { status, stderr, left } = startOnce()
  writeFileSync(file, version)
  t.equal(status, 1)
  t.match(stderr, /^PostgreSQL did not start:\n/)
  t.notMatch(stderr, /\n\s+at /)
  t.strictSame(left, [])
})

t.test('a database that other code made is refused in a sentence, without a stack', async (t) => {
  const sql = join(folder, 'sql')
  const copyOfCode = (): void => {
    rmSync(sql, { recursive: true })
    cpSync(join(import.meta.dirname, '../../sql'), sql, { recursive: true })
  }
  copyOfCode()
  appendFileSync(join(sql, 'migrations/000001-initial.sql'), '-- Other.\n')
  const { status, stderr } = startOnce()
  copyOfCode()
  t.equal(status, 1)
  t.match(
    stderr,
    /^The database does not fit this code: 000001-initial\.sql was edited [^\n]*; it is in \.data\/postgres: remove this folder, and the next start makes a new database\n$/,
  )
  t.strictSame(findProcesses(folder), [], 'PostgreSQL has ended, too')
})

t.test('a database of one’s own leaves what is kept of the embedded one alone', async (t) => {
  const kept = ['key', 'database-url'].map((name) =>
    readFileSync(join(folder, '.data', name), 'utf8'),
  )
  const { url } = await openTestDatabase(t)
  const service = await startService(t, { DATABASE_URL: url })
  t.notMatch(service.line, (kept[0] ?? '').trim(), 'it has a key of its own')
  t.match(service.output(), 'psql "$DATABASE_URL"')
  const told = ['key', 'database-url'].map((name) =>
    readFileSync(join(folder, '.data', name), 'utf8'),
  )
  t.strictSame(told, kept)
  service.child.kill('SIGINT')
  await once(service.child, 'exit')
})

/** Starts a process that must end by itself. @returns its result and the temporary folders that it left. */
function startOnce() {
  const temporary = mkdtempSync(join(tmpdir(), 'runledger-dev-'))
  chmodSync(temporary, 0o755) // PostgreSQL's user enters it
  const { status, stdout, stderr } = spawnSync('node', ['src/dev/dev.ts'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: temporary },
  })
  const left = readdirSync(temporary)
  rmSync(temporary, { recursive: true })
  return { status, stdout, stderr, left }
}

async function startService(
  t: Test,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ child: ChildProcess; line: string; key: string; output: () => string }> {
  const child = spawn('node', ['src/dev/dev.ts'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Headers in a new directory cost 15 seconds of CPU time, and no test here needs them.
    env: {
      ...process.env,
      CPP_PRECOMPILED_HEADERS: 'off',
      LANGUAGES: 'python,javascript',
      PORT: '0', // 3000 may be another program's
      SYNC_WAIT_SECONDS: '240', // so that the line of a killed worker's submission waits for the next worker
      ...environment,
    },
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
  const kept = readFileSync(join(folder, '.data/key'), 'utf8')
  t.match(kept, /^\S+\n$/, 'one line, as the tools of a shell expect')
  return { child, line, key: kept.trim(), output: () => text }
}

/** Returns the pids whose working directory is a folder and whose command line has an argument. */
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
