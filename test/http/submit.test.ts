// POST /api/submit: every rule of the field table. A refused request leaves no trace.
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { parseRanges } from '#webhook-address'
import { isAnyWaiting } from '../helper/lock.ts'
import { startFreshServer, startServer } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'

const server = await startFreshServer(t)
const { call, sql, url } = server
const python = { language: 'python', code: 'print(1)' }
/** A server whose operator allows webhooks to more addresses and ports. */
const other = await startServer(t, sql, {
  url,
  webhookRules: { ranges: parseRanges('127.0.0.0/8, 10.0.0.0/8').ranges, ports: [443, 8443] },
})

const submit = (body: unknown, path = '/api/submit'): Promise<Answer> =>
  call('POST', path, { body })

async function countRows(): Promise<string> {
  const [row] = await sql`
    select
      (select count(*) from runledger.event where type like 'submission.%') as events,
      (select count(*) from runledger.submission) as results,
      (select count(*) from runledger.body) as bodies,
      (select count(*) from runledger.pending) as pending,
      (select count(*) from runledger.delivery) as deliveries,
      (select count(*) from runledger.idempotency) as keys,
      (select count(*) from graphile_worker.jobs) as jobs`
  return JSON.stringify(row)
}

t.test('ids sort in the order of submission', async (t) => {
  const ids: string[] = []
  for (let n = 0; n < 5; n += 1) ids.push((await submit(python)).body.id)
  t.strictSame(ids, ids.toSorted())
})

t.test('any text of at most 65,536 bytes of UTF-8 is stored byte for byte', async (t) => {
  const odd = '\0\x01\x7f\r\n\t\u2028\u00e9e\u0301\ufeff\ufffd\uffff\u{1f600}\u{10ffff}"\\/'
  for (const text of [odd, 'x'.repeat(65_536), 'é'.repeat(32_768), '😀'.repeat(16_384)]) {
    const asked = { ...python, code: text, stdin: text, expected_stdout: text }
    const { status, body } = await submit(asked)
    t.equal(status, 202)
    const [stored] = await sql`
      select code, stdin, expected_stdout from runledger.body where submission_id = ${body.id}`
    for (const field of ['code', 'stdin', 'expected_stdout'])
      t.strictSame(stored?.[field], Buffer.from(text), field)
  }
})

const refused: Readonly<Record<string, [unknown, string]>> = {
  'a language in capitals': [{ ...python, language: 'Python' }, 'language'],
  'a language named like a built-in': [{ ...python, language: 'constructor' }, 'language'],
  'code that is an array': [{ ...python, code: ['x'] }, 'code'],
  'expected_stdout that is a boolean': [{ ...python, expected_stdout: true }, 'expected_stdout'],
  'a misspelt field': [{ ...python, Stdin: '' }, 'Stdin'],
  'a constructor key': ['{"language":"py","code":"","constructor":1}', 'constructor'],
  'a lone surrogate in stdin': ['{"language":"py","code":"","stdin":"a\\udc00b"}', 'stdin'],
  'a NUL in webhook_secret': [{ ...python, webhook_url: 'https://a.test/', webhook_secret: 'a\0' }, 'webhook_secret'],
  'a NUL in webhook_url': [{ ...python, webhook_url: 'https://a.test/\0', webhook_secret: 's' }, 'webhook_url'],
  'a webhook_url that is no URL': [{ ...python, webhook_url: 'a.test', webhook_secret: 's' }, 'webhook_url'],
  'a webhook to loopback in disguise': [{ ...python, webhook_url: 'https://0x7f.1/', webhook_secret: 's' }, 'webhook_url'],
  'a webhook to this machine by another name': [{ ...python, webhook_url: 'https://a.LocalHost./', webhook_secret: 's' }, 'webhook_url'],
  'a webhook with a password': [{ ...python, webhook_url: 'https://u:p@a.test/', webhook_secret: 's' }, 'webhook_url'],
  'a webhook to a host of 1,025 characters': [{ ...python, webhook_url: `https://${'x'.repeat(1025)}/`, webhook_secret: 's' }, 'webhook_url'],
  'a webhook_url of 9,000 characters': [{ ...python, webhook_url: `https://a.test/${'x'.repeat(9000)}`, webhook_secret: 's' }, 'webhook_url'],
  'an empty body': ['', ''],
  'JSON with a comment': ['{"language":"py","code":""} // x', ''],
  'a depth bomb': ['['.repeat(500_000), ''],
  'a closed depth bomb': [`${'['.repeat(200_000)}${']'.repeat(200_000)}`, ''],
  'a depth bomb in a field': [`{"language":"py","code":${'['.repeat(200_000)}${']'.repeat(200_000)}}`, 'code'],
  'invalid UTF-8': [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), ''],
  'an encoded surrogate': [Buffer.concat([Buffer.from('{"language":"py","code":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]), ''],
  'overlong UTF-8': [Buffer.concat([Buffer.from('{"language":"py","code":"'), Buffer.from([0xc0, 0x80]), Buffer.from('"}')]), ''],
  'UTF-16': [Buffer.from('{"language":"py","code":""}', 'utf16le'), ''],
} // prettier-ignore

t.test('what is refused is 400 with where and why, and nothing is written', async (t) => {
  const before = await countRows()
  for (const [name, [body, path]] of Object.entries(refused)) {
    const answer = await submit(body)
    t.equal(answer.status, 400, name)
    t.equal(answer.body.error, 'invalid_request', name)
    t.ok(
      answer.body.issues.some((issue: { path: string }) => issue.path === path),
      `${name}: ${answer.text.slice(0, 200)}`,
    )
    t.notMatch(answer.text, /\bat \/|node:|postgres|valibot/i, `${name} shows nothing of ours`)
  }
  t.equal(await countRows(), before)
})

t.test('a hundred thousand unknown fields get an answer of bounded size', async (t) => {
  const fields = Array.from({ length: 100_000 }, (_, n) => `"field${n}":1`)
  const { status, text } = await submit(`{${fields.join(',')}}`)
  t.equal(status, 400)
  t.ok(text.length < 20_000, `${text.length} characters`)
})

t.test('who is given up in a deadlock is told to come again, and nothing is stored', async (t) => {
  const count = async (): Promise<unknown> => (await sql`select count(*) from runledger.event`)[0]
  const [{ name } = { name: '' }] = await sql<{ name: string }[]>`select current_database() as name`
  // A connection looks for a deadlock once: when it has waited so long. The request has 1.5 seconds.
  await sql`alter database ${sql(name)} set deadlock_timeout = '500ms'`
  const looking = await startServer(t, sql, { url })
  t.equal((await looking.call('GET', '/api/languages')).status, 200)
  const before = await count()
  const answer = await sql.begin(async (other) => {
    await other`set local deadlock_timeout = '1min'`
    await other`lock table runledger.body in access exclusive mode`
    const submitting = looking.call('POST', '/api/submit', { body: python })
    while (!(await isAnyWaiting(sql, 'runledger.body'))) await delay(10)
    await other`lock table runledger.api_key in access exclusive mode`
    return submitting
  })
  await sql`alter database ${sql(name)} reset deadlock_timeout`
  t.match(answer, { status: 503, body: { error: 'unavailable' } })
  t.strictSame(await count(), before)
})

const cases = [
  ['https://a.test/', 202, 202],
  ['https://a.test:443/', 202, 202],
  ['https://a.test:8443/', 400, 202],
  ['https://a.test:8444/', 400, 400],
  ['https://localhost/', 400, 202],
  ['https://sub.localhost:8443/', 400, 202],
  ['https://127.0.0.1/', 400, 202],
  ['https://localhost.test/', 202, 202],
  ['https://[::1]/', 400, 400],
] as const

t.test('a webhook that can never be sent is refused at once', async (t) => {
  for (const [address, expected, allowed] of cases) {
    const body = { language: 'python', code: '', webhook_url: address, webhook_secret: 's' }
    for (const [at, status] of [
      [server, expected],
      [other, allowed],
    ] as const) {
      const answer = await at.call('POST', '/api/submit', { body })
      t.equal(answer.status, status, `${address} ${answer.text}`)
      if (status === 400) t.match(answer.body.issues, [{ path: 'webhook_url' }])
    }
  }
  const body = { language: 'python', code: '', webhook_url: 'https://a.test:8444/', webhook_secret: 's' } // prettier-ignore
  const { body: refused } = await other.call('POST', '/api/submit', { body })
  t.match(refused.message, /must not have port 8444: the service's operator allows 443, 8443/)
})
