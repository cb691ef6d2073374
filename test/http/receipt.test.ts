// GET /api/result/{id}/receipt and /receipt-key, and `runledger audit receipt` on their answers.
import { spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { cancelSubmission } from '#enqueue'
import { openEnvelope, readSigningKey } from '#receipt'
import type { Opened } from '#receipt'
import { compareWithLedger } from '../../src/cli/audit-receipt.ts'
import { bareEnvironment } from '../helper/bare-environment.ts'
import { startCommandLine } from '../helper/command-line.ts'
import type { Ended } from '../helper/command-line.ts'
import { checkSchema } from '../helper/contract.ts'
import { completeExecution, finish, interrupt, startExecution } from '../helper/execution.ts'
import { startFreshServer, startServer } from '../helper/server.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'
import { startWebProcess } from '../helper/web.ts'

const pemOf = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
const pem = pemOf()
const receiptKey = readSigningKey(pem)
const server = await startFreshServer(t, { receiptKey })
const { sql, url } = server
const caller = await createCaller(sql)
const { key } = caller
const directory = t.testdir()

type Open = Extract<Opened, { receipt: object }>
function open(text: string): Open {
  const opened = openEnvelope(text, [receiptKey])
  if (opened.kind !== 'signed') throw new Error(opened.kind)
  checkSchema('ReceiptPayload', JSON.parse(opened.bytes.toString()))
  return opened
}
const read = async (id: string): Promise<Open> => {
  const { status, text } = await server.call('GET', `/api/result/${id}/receipt`, { key })
  t.equal(status, 200)
  return open(text)
}
const receive = (given: object = {}): Promise<string> =>
  submitNew(sql, caller, describeSubmission({ code: 'print(1)', stdin: 'abc', ...given }))

const command = startCommandLine(t, { DATABASE_URL: url })
const audit = (...words: string[]): Promise<Ended> => command(['audit', 'receipt', ...words])
function file(name: string, content: string): string {
  writeFileSync(join(directory, name), content)
  return join(directory, name)
}
const keyFile = file(
  'key.pem',
  (await server.call('GET', '/receipt-key', { key: null, checked: false })).text,
)

t.test('it says what was run, where, under what, how it ended, and what the log has', async (t) => {
  const options = { args: ['--fast'] }
  const id = await receive({ expectedStdout: Buffer.from('1\n'), tag: 'exam', options })
  await finish(sql, id, { stdout: '1\n' })
  const { receipt } = await read(id)
  const [events] = await sql`
    select array_agg(hash order by stream_version) as hashes from audit.event where stream_id = ${id}`
  t.match(receipt, { version: 1,
    submission: id,
    request: { language: 'python',
      code: { bytes: 8, sha256: /^[0-9a-f]{64}$/ },
      stdin: { bytes: 3, sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' },
      expected_stdout: { bytes: 2 },
      detail: { sha256: /^[0-9a-f]{64}$/ },
      tag: 'exam',
    },
    execution: { attempt: 1, runtime: 'Python 3.11.2', limits: { run: { cpu_time: 5 } }, isolation: { box: 'keeper' } },
    end: { status: 'completed', verdict: 'AC', exit_code: 0, run: { cpu_time: 0.01 }, stdout: { bytes: 2 } },
  }) // prettier-ignore
  const told = receipt.events.map(({ hash }) => hash)
  t.strictSame(told, events?.['hashes'])
  t.notMatch(
    JSON.stringify(receipt),
    new RegExp(`${caller.apiKeyId}|${caller.accountId}|"worker"|"host"`),
  )
})

t.test('it is the same when the bodies are gone', async (t) => {
  const id = await receive()
  await finish(sql, id, { stdout: '1\n' })
  const before = await read(id)
  await sql`select runledger.purge_bodies('0 seconds', 1000)`
  const [body] = await sql`select from runledger.body where submission_id = ${id}`
  t.equal(body, undefined)
  t.ok((await read(id)).bytes.equals(before.bytes))
})

t.test('what was cancelled or has failed has one too', async (t) => {
  const cancel = (id: string): Promise<unknown> =>
    cancelSubmission(sql, id, caller.accountId, { actor: { api_key: caller.apiKeyId } })
  const waiting = await receive()
  await cancel(waiting)
  t.match((await read(waiting)).receipt, { execution: null, end: { status: 'cancelled', verdict: null } })
  const running = await receive()
  const version = (await startExecution(sql, running)) ?? 0
  await cancel(running)
  t.equal((await server.call('GET', `/api/result/${running}/receipt`, { key })).status, 409)
  await completeExecution(sql, running, version, { stdout: 'x' })
  t.match((await read(running)).receipt, { execution: { attempt: 1 }, end: { status: 'cancelled', stdout: { bytes: 1 } } })
  const failed = await receive()
  const start = (await startExecution(sql, failed)) ?? 0
  await interrupt(sql, failed, start, undefined, { isLast: true })
  t.match((await read(failed)).receipt.end, { status: 'failed', verdict: 'IE', stdout: null })
}) // prettier-ignore

t.test('before the end it is 409, and of nobody else’s submission there is any', async (t) => {
  const id = await receive()
  const ask = (path: string, given: object = { key }): ReturnType<typeof server.call> =>
    server.call('GET', `/api/result/${path}/receipt`, given)
  t.match(await ask(id), { status: 409, body: { error: 'not_final' } })
  await startExecution(sql, id)
  t.match(await ask(id), { status: 409, body: { error: 'not_final' } })
  for (const [path, given] of [
    [id, { key: await server.issue() }],
    ['018f0000-0000-7000-8000-000000000000', { key }],
    ['x', { key }],
    [caller.apiKeyId, { key }],
  ] as const)
    t.match(await ask(path, given), { status: 404, body: { message: 'There is no such submission.' } })
  t.equal((await ask(id, { key: null })).status, 401)
  t.equal((await server.call('GET', `/api/result/${id}/receipt?x=1`, { key })).status, 400)
}) // prettier-ignore

t.test('without a key there is neither, and it is said why', async (t) => {
  const without = await startServer(t, sql, { url })
  const id = await receive()
  const said = { status: 404, body: { error: 'not_found', message: /RECEIPT_KEY/ } }
  t.match(await without.call('GET', `/api/result/${id}/receipt`, { key }), said)
  t.match(await without.call('GET', '/receipt-key', { key: null }), said)
})

t.test('two web processes give the same bytes, and a wrong key refuses the start', async (t) => {
  const id = await receive()
  await finish(sql, id)
  const der = pem.split('\n').slice(1, -2).join('')
  const texts: string[] = []
  for (const RECEIPT_KEY of [pem, der]) {
    const { port } = await startWebProcess(t, url, { RECEIPT_KEY })
    const headers = { 'X-API-Key': key }
    const answer = await fetch(`http://127.0.0.1:${port}/api/result/${id}/receipt`, { headers })
    texts.push(await answer.text())
  }
  t.equal(texts[0], texts[1])
  t.ok(open(texts[0] ?? '').bytes.equals((await read(id)).bytes))

  const secret = `${der.slice(0, 20)}AAAA${der.slice(24)}`
  const started = spawnSync(process.execPath, ['src/server/server.ts'], {
    cwd: join(import.meta.dirname, '../..'),
    env: { ...bareEnvironment, DATABASE_URL: url, PORT: '0', RECEIPT_KEY: `${secret}!` },
    encoding: 'utf8',
    timeout: 60_000,
  })
  t.equal(started.status, 78)
  t.match(started.stderr, /RECEIPT_KEY: is no private Ed25519 key/)
  t.notOk((started.stderr + started.stdout).includes(secret.slice(0, 20)), 'never the value')
})

t.test('set to nothing it is not set', async (t) => {
  const { port } = await startWebProcess(t, url, { RECEIPT_KEY: '' })
  t.equal((await fetch(`http://127.0.0.1:${port}/receipt-key`)).status, 404)
})

t.test('the command checks it offline and against the ledger, and says what is wrong', async (t) => {
  const id = await receive()
  await finish(sql, id, { stdout: '1\n' })
  const { text } = await server.call('GET', `/api/result/${id}/receipt`, { key })
  const receipt = file('receipt.json', text)
  const good = await audit(receipt, '--public-key', keyFile, '--ledger')
  t.equal(good.status, 0, good.err)
  t.match(good.out, `submission ${id}: completed, AC, at `)
  t.match(good.out, `unchanged since key ${receiptKey.id} signed it`)
  t.match(good.out, 'Its 3 events are in the ledger, and their hashes fit.')
  const unsigned = await audit(receipt, '--ledger')
  t.match(unsigned, { status: 0, out: /signature was not checked/ })

  const otherKey = readSigningKey(pemOf())
  const otherFile = file('other.pem', otherKey.publicKey.export({ format: 'pem', type: 'spki' }).toString())
  t.match(await audit(receipt, '--public-key', otherFile), { status: 1, out: /ANOTHER KEY/ })
  const envelope = JSON.parse(text) as { payload: string }
  const claim = Buffer.from(envelope.payload, 'base64').toString().replace('"AC"', '"WA"')
  const forged = { ...envelope, payload: Buffer.from(claim).toString('base64') }
  const altered = file('altered.json', JSON.stringify(forged))
  t.match(await audit(altered, '--public-key', keyFile), { status: 1, out: /WAS CHANGED/ })
  t.match(await audit(altered, '--ledger'), { status: 1, out: /DIFFERS from the ledger/ })
  t.match(await audit(file('none.json', '{}'), '--public-key', keyFile), { status: 1, out: /not a receipt/ })
  t.match(await audit(join(directory, 'absent'), '--public-key', keyFile), { status: 66 })
  t.match(await audit(receipt, '--public-key', receipt), { status: 65, err: /no public Ed25519 key/ })
  t.match(await audit(receipt), { status: 64 })
}) // prettier-ignore

t.test('a ledger that was changed is noticed, by the receipt and by who would sign it', async (t) => {
  const id = await receive()
  await finish(sql, id, { stdout: '1\n' })
  const opened = await read(id)
  t.ok((await compareWithLedger(sql, opened)).ok)
  const absent = { ...opened, receipt: { ...opened.receipt, submission: '018f0000-0000-7000-8000-000000000000' } }
  t.match(await compareWithLedger(sql, absent), { ok: false, lines: [/HAS NO submission/] })

  await sql.unsafe('alter table runledger.event disable trigger event_append_only')
  await sql`update runledger.event set data = data || '{"verdict": "WA"}' where stream_id = ${id} and stream_version = 3`
  t.match(await compareWithLedger(sql, opened), { ok: false, lines: [/Event 3 of the ledger DOES NOT FIT/] })
  t.equal((await server.call('GET', `/api/result/${id}/receipt`, { key })).status, 500, 'nothing is signed of it')
  // The event's hash is recomputed, too, so that it fits.
  await sql`
    update runledger.event e set hash = runledger.hash_event(
      (select p.hash from runledger.event p where p.stream_id = e.stream_id and p.stream_version = 2),
      stream_id, stream_version, type, schema_version, data, metadata, recorded_at
    ) where stream_id = ${id} and stream_version = 3`
  t.match(await compareWithLedger(sql, opened), { ok: false, lines: [/Event 3 .* IS DIFFERENT/] })
  await sql`delete from runledger.event where stream_id = ${id} and stream_version = 3`
  t.match(await compareWithLedger(sql, opened), { ok: false, lines: [/Event 3 of the receipt IS NOT/] })
}) // prettier-ignore
