// Two whole services behind one router, each with a separate database, web process and worker. Everything that an account
// does reaches its cell, nothing of the other cell is visible, and a cell that is down does not affect the other. `make
// test-cells` runs this.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createClient } from '#client'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { findPort } from '#embedded-postgres'
import { bareEnvironment } from '../helper/bare-environment.ts'
import { checkAnswer } from '../helper/contract.ts'
import { startTestCluster, withDatabase } from '../helper/database.ts'
import { openStream } from '../helper/stream.ts'
import { startWebProcess } from '../helper/web.ts'
import type { WebProcess } from '../helper/web.ts'
import { startWorkerProcess } from '../helper/worker.ts'
import { createAuthority } from '../webhook/certificate.ts'
import { createReceiver } from '../webhook/receiver.ts'
import { startRouter } from './router.ts'

const receiverAddress = '127.0.0.2'
const directory = mkdtempSync(join(tmpdir(), 'runledger-cells-'))
const authority = createAuthority()
const authorityFile = join(directory, 'authority.pem')
writeFileSync(authorityFile, authority.pem)
const receiver = await createReceiver(
  authority.issue([`IP:${receiverAddress}`]),
  (response) => response.writeHead(204).end(),
  receiverAddress,
)
t.teardown(async () => {
  authority.remove()
  rmSync(directory, { recursive: true })
  await receiver.close()
})

interface Cell {
  readonly sql: Database
  readonly port: number
  /** Issues a key with the command line. Without a letter the key names no cell. */
  issue(letter?: string): string
  startWeb(): Promise<WebProcess>
  /** Kills the whole cell, with its database. */
  kill(): Promise<void>
}

async function startCell(): Promise<Cell> {
  const cluster = await startTestCluster()
  const url = withDatabase(cluster.url, 'runledger_template')
  const sql = createDatabase({ url, connections: 2, name: 'cells' })
  const port = await findPort(0)
  const rules = { WEBHOOK_ALLOWED_RANGES: `${receiverAddress}/32`, WEBHOOK_ALLOWED_PORTS: String(receiver.port) } // prettier-ignore
  const startWeb = (): Promise<WebProcess> => startWebProcess(t, url, { ...rules, PORT: String(port) }) // prettier-ignore
  const [web, worker] = await Promise.all([
    startWeb(),
    startWorkerProcess(t, url, { ...rules, LANGUAGES: 'python', WEBHOOK_CA: authorityFile }),
  ])
  let isUp = true
  const kill = async (): Promise<void> => {
    if (!isUp) return
    isUp = false
    for (const { child } of [web, worker]) child.kill('SIGKILL')
    await sql.end({ timeout: 1 })
    await cluster.stop()
  }
  t.teardown(kill)
  return {
    sql,
    port,
    startWeb: async () => {
      const ended = once(web.child, 'exit')
      web.child.kill('SIGKILL')
      await ended
      return startWeb()
    },
    kill,
    issue(letter) {
      const words = ['keys', 'issue', '--account', `of ${letter}`, '--tier', 'unlimited']
      const { stdout } = spawnSync(
        resolve(import.meta.dirname, '../../runledger'),
        letter === undefined ? words : [...words, '--cell', letter],
        { env: { ...bareEnvironment, DATABASE_URL: url }, encoding: 'utf8' },
      )
      return (JSON.parse(stdout) as { key: string }).key
    },
  }
}

const [a, b] = await Promise.all([startCell(), startCell()])
const router = await startRouter(t, [a.port, b.port])
const origin = `http://127.0.0.1:${router}`
const keys = { a: a.issue('A'), b: b.issue('B'), first: a.issue() }

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

async function call(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: object,
): Promise<Answer> {
  const answer = await fetch(origin + path, {
    method,
    headers: { ...headers, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }) // prettier-ignore
  const text = await answer.text()
  if (path.startsWith('/api/') && !path.startsWith('/api/v2')) checkAnswer(method, path, answer.status, text) // prettier-ignore
  return { status: answer.status, headers: answer.headers, body: JSON.parse(text) as Answer['body'] } // prettier-ignore
}

const has = async ({ sql }: Cell, id: unknown): Promise<boolean> =>
  (await sql`select from runledger.event where stream_id::text = ${String(id)}`).length > 0
const program = { language: 'python', code: 'print(6 * 7)' }
const run = (key: string): Promise<Answer> => call('POST', '/api/submit?wait=true', { 'X-API-Key': key }, program) // prettier-ignore

t.test('a submission runs in the cell that its key names', async (t) => {
  for (const [key, own, other] of [[keys.a, a, b], [keys.b, b, a], [keys.first, a, b]] as const) {
    const { status, body } = await run(key)
    t.match({ status, body }, { status: 200, body: { verdict: 'AC', stdout: '42\n' } })
    t.strictSame([await has(own, body['id']), await has(other, body['id'])], [true, false])
  }
}) // prettier-ignore

t.test('what needs no key is answered', async (t) => {
  t.equal((await fetch(`${origin}/openapi.json`)).status, 200)
  t.equal((await fetch(`${origin}/metrics`)).status, 403)
})

t.test('a stream passes on what is written while it is written', async (t) => {
  const code = 'import time; print("first", flush=True); time.sleep(4); print("last")'
  const { body } = await call('POST', '/api/submit', { 'X-API-Key': keys.b }, { ...program, code })
  const path = `/api/result/${String(body['id'])}/stream`
  const stream = await openStream({ port: router, key: keys.b, path })
  await stream.until(({ data }) => JSON.stringify(data).includes('first'))
  t.equal((await b.sql`select from runledger.pending`).length, 1, 'it runs still')
  t.match((await stream.ended).at(-1)?.data, { verdict: 'AC', stdout: 'first\nlast\n' })
})

t.test('a batch and its webhook are of the cell', async (t) => {
  const hook = { webhook_url: `https://${receiverAddress}:${receiver.port}/`, webhook_secret: 'a secret of the suite' } // prettier-ignore
  const request = { submissions: [program, program, program], ...hook }
  const { status, body } = await call('POST', '/api/submit/batch', { 'X-API-Key': keys.b }, request)
  t.equal(status, 202)
  const ids = (body['submissions'] as { id: string }[]).map(({ id }) => id)
  for (const id of [body['id'], ...ids]) t.strictSame([await has(b, id), await has(a, id)], [true, false]) // prettier-ignore
  const record = await createClient({ url: origin, apiKey: keys.b }).wait(ids[0]!)
  t.match(record, { verdict: 'AC' })
  while (receiver.requests.length === 0) await sleep(50)
  t.match(receiver.requests[0]!.body.toString(), String(body['id']))
})

t.test('doors find the cell wherever their clients send the key', async (t) => {
  const count = async ({ sql }: Cell): Promise<number> =>
    (await sql`select from runledger.event where type = 'submission.received'`).length
  const before = [await count(a), await count(b)]
  const judge0 = { source_code: program.code, language_id: 71 }
  const piston = { language: 'python', version: '*', files: [{ content: program.code }] }
  const answers = [
    await call('POST', '/judge0/submissions?wait=true', { 'X-Auth-Token': keys.b }, judge0),
    await call('POST', '/api/v2/execute', { Authorization: keys.b }, piston),
    await call('POST', '/api/v2/execute', { Authorization: `Bearer ${keys.b}` }, piston),
    await call('POST', '/api/v2/execute', { 'X-API-Key': keys.b, Authorization: `Bearer ${keys.a}` }, piston), // prettier-ignore
  ]
  t.strictSame(answers.map(({ status }) => status), [201, 200, 200, 200]) // prettier-ignore
  t.strictSame([await count(a), await count(b)], [before[0], before[1]! + 4])
})

t.test('another cell’s submission is unknown, and so is its key', async (t) => {
  const { body } = await run(keys.b)
  for (const [method, path] of [['GET', ''], ['GET', '/stream'], ['GET', '/events'], ['POST', '/cancel'], ['POST', '/rerun']] as const) {
    const { status } = await call(method, `/api/result/${String(body['id'])}${path}`, { 'X-API-Key': keys.a }) // prettier-ignore
    t.equal(status, 404, `${method} ${path}`)
  } // prettier-ignore
  const direct = await fetch(`http://127.0.0.1:${a.port}/api/languages`, { headers: { 'X-API-Key': keys.b } }) // prettier-ignore
  t.equal(direct.status, 401)
})

t.test('a web process that is started again takes the next request', async (t) => {
  await b.startWeb()
  t.equal((await run(keys.b)).status, 200)
})

t.test('a cell that is down does not touch the other', async (t) => {
  await b.kill()
  const { status, headers, body } = await run(keys.b)
  t.match({ status, body }, { status: 503, body: { error: 'unavailable', retry: 'after' } })
  t.equal(headers.get('retry-after'), '2')
  const scored = await call(
    'POST',
    '/run_code',
    { 'X-API-Key': keys.b },
    { language: 'python', code: '' },
  )
  t.equal(scored.status, 504, 'at which a training pipeline asks again')
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => run(index % 2 === 0 ? keys.a : keys.b))) // prettier-ignore
  for (const [index, answer] of answers.entries()) t.equal(answer.status, index % 2 === 0 ? 200 : 503) // prettier-ignore
})
