// Every process that is started with a wrong address or login reports the reason in one sentence, without a trace or the
// password, and exits with status 78.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { createLog } from '#log'
import { bareEnvironment } from './helper/bare-environment.ts'
import { openTestDatabase, withDatabase } from './helper/database.ts'
import { startServer } from './helper/server.ts'
import type { Answer } from './helper/server.ts'
import { createCaller } from './helper/submission.ts'
import { startWebProcess } from './helper/web.ts'

const { sql, url } = await openTestDatabase(t)

const entries = {
  web: ['src/server/server.ts'],
  worker: ['src/worker/worker.ts'],
  migrate: ['src/migration/migrate.ts'],
  'keys list': ['src/cli/cli.ts', 'keys', 'list'],
}
type Entry = keyof typeof entries

/** Returns the database's address with another user name and password. */
function logIn(name: string, password: string): string {
  const login = new URL(url)
  login.username = name
  login.password = password
  return login.href
}

async function createLogin(...roles: readonly string[]): Promise<string> {
  const name = `login_${process.pid}_${roles.join('_')}`
  await sql.unsafe(`create role ${name} login password 'hunter2' in role ${roles.join(', ')}`)
  t.teardown(() => sql.unsafe(`drop role ${name}`))
  return logIn(name, 'hunter2')
}

async function refuses(
  t: Test,
  entry: Entry,
  environment: Readonly<Record<string, string>>,
  sentence: RegExp,
): Promise<void> {
  const child = spawn('node', entries[entry], {
    env: { ...bareEnvironment, PORT: '0', DATABASE_URL: url, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  t.equal(status, 78, `${entry}: ${err}`)
  t.match(err, sentence, entry)
  t.notMatch(out + err, /\n\s+at |\\n\s+at |hunter2|stack/, 'neither a trace nor the password')
}

/** Repeats a request while the answer is that the database did not answer in time, which a busy machine may cause. */
async function untilReached(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask()
    if (!answer.text.includes('cannot reach its database')) return answer
  }
}

const [api, worker] = [
  await createLogin('runledger_api'),
  await createLogin('runledger_worker', 'runledger_queue'),
]

t.test('a wrong password, an unknown role, no such database', async (t) => {
  const rows: [string, RegExp][] = [
    [logIn('postgres', 'hunter2'), /refuses this login: password authentication failed/],
    [logIn('nobody', 'hunter2'), /refuses this login: password authentication failed/],
    [withDatabase(url, 'nowhere'), /refuses this login: database "nowhere" does not exist/],
  ]
  for (const entry of Object.keys(entries) as Entry[]) {
    for (const [address, sentence] of entry === 'web' ? rows : rows.slice(-2))
      await refuses(t, entry, { DATABASE_URL: address }, sentence)
  }
})

t.test('an address that is none is not shown, as it may hold the password', async (t) => {
  const address = 'postgres://user:hunter2/@host:x/name'
  await refuses(t, 'web', { DATABASE_URL: address }, /DATABASE_URL: is not a URL/)
})

t.test('a login of the wrong role', async (t) => {
  await refuses(
    t,
    'worker',
    { DATABASE_URL: api },
    /lets this login in, but .* may not call runledger\./,
  )
  await refuses(t, 'migrate', { DATABASE_URL: api }, /not do this: permission denied/)
  await refuses(t, 'keys list', { DATABASE_URL: worker }, /not do this: permission denied/)

  await t.test(
    'leaves the web process alive but not ready, with the reason in its log',
    async (t) => {
      const lines: string[] = []
      const log = createLog('web', 'info', { write: (line) => lines.push(line) })
      const { call } = await startServer(t, sql, { url: worker, log })
      for (let n = 0; n < 2; n += 1) {
        const { status, body } = await untilReached(() => call('GET', '/readyz', { key: null }))
        t.equal(status, 503)
        t.match(body.message, /login/)
      }
      t.equal((await call('GET', '/healthz', { key: null })).status, 200)
      const answer = await untilReached(() => call('GET', '/api/languages'))
      t.equal(answer.status, 503, 'so is what callers ask')
      t.match(answer.body, { error: 'unavailable', message: /login/ })
      const told = lines.filter((line) => line.includes('web.not_ready'))
      t.equal(told.length, 1, 'once')
      t.notMatch(lines.join(''), 'request.internal')
      t.match(told[0], /may not call [\w.]+: use a role that may/)

      const name = new URL(worker).username
      await sql.unsafe(`grant runledger_api to ${name}`)
      const ready = await untilReached(() => call('GET', '/readyz', { key: null }))
      t.equal(ready.status, 200, 'as soon as it has it')
    },
  )
})

t.test('a web process says by itself what its database lacks, once', async (t) => {
  const { key } = await createCaller(sql)
  const empty = `empty_${process.pid}`
  await sql.unsafe(`create database ${empty}`)
  t.teardown(() => sql.unsafe(`drop database ${empty} with (force)`))
  const rows = [
    [await createLogin('runledger_queue'), /may not [\w. ]+: use a role that may/],
    [withDatabase(url, empty), /^the database lacks 0\d+-\w+\.sql: run `make migrate`$/],
  ] as const
  for (const [address, reason] of rows) {
    const { port, lines } = await startWebProcess(t, address)
    const read = (): { msg: string; level: string; reason?: string }[] =>
      lines.map((line) => JSON.parse(line) as { msg: string; level: string })
    const told = (): string[] =>
      read().flatMap((line) => (line.msg === 'web.not_ready' ? [line.reason ?? ''] : []))
    while (told().length === 0) await sleep(50)
    for (let n = 0; n < 5; n += 1) {
      const answer = await fetch(`http://127.0.0.1:${port}/api/languages`, {
        headers: { 'X-API-Key': key },
      })
      t.equal(answer.status, 503)
      t.match(await answer.json(), { error: 'unavailable' })
      await sleep(300)
    }
    t.match(told(), [reason])
    // A busy machine delays a sweep.
    const others = read().filter(
      ({ level, msg }) => level !== 'info' && !['web.not_ready', 'sweep.delayed'].includes(msg),
    )
    t.ok(others.length <= 1, 'what it cannot do is told once')
  }
})

t.test('a port that is in use', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  await refuses(t, 'web', { PORT: String(port) }, /port \d+ is in use by another process/)
})
