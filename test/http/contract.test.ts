// The contract as a table. A row has one statement, a request, and what must hold of the answer. The product's user fixed
// the statements that are `given`; those that are `chosen` are decisions of the project. A statement whose proof needs races,
// time or a sandbox names the file that proves it. Every answer is also checked against the OpenAPI document
// (helper/contract.ts).
import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { revokeKey } from '#account'
import { openTestDatabase } from '../helper/database.ts'
import { finish } from '../helper/execution.ts'
import { startServer } from '../helper/server.ts'
import type { Answer, Call } from '../helper/server.ts'
import { createCaller } from '../helper/submission.ts'

const { sql, url } = await openTestDatabase(t)
const servers = {
  open: await startServer(t, sql, { url, syncWaitSeconds: 0.3 }),
  full: await startServer(t, sql, { url, queueCapacity: 2 }),
  proxied: await startServer(t, sql, { url, trustProxy: true }),
}

interface Ask extends Call {
  readonly method: string
  readonly path: string
  readonly on?: keyof typeof servers
}

/** What must hold of the answer: its status, a pattern of its body, patterns of its headers. */
interface Holds {
  readonly status: number
  readonly body?: object
  /** The paths of all issues. */
  readonly issues?: readonly string[]
  readonly headers?: Readonly<Record<string, RegExp | string | undefined>>
}

/** The requests of a row. Each is made from the answer to the one before; the last answer is checked. */
type Asks = readonly [Ask, ...((before: Answer) => Ask)[]]

type Row =
  | readonly ['given' | 'chosen', string, Ask | Asks, Holds]
  /** The last element is the file that proves the statement. */
  | readonly ['given' | 'chosen', string, string]

const python = { language: 'python', code: '' }
const post = (body: unknown, more: Partial<Ask> = {}): Ask => ({ method: 'POST', path: '/api/submit', body, ...more }) // prettier-ignore
const get = (path: string, more: Partial<Ask> = {}): Ask => ({ method: 'GET', path, ...more })
const batch = (submissions: unknown, more: Partial<Ask> = {}): Ask => post({ submissions }, { path: '/api/submit/batch', ...more }) // prettier-ignore
const again = (id: string, more: Partial<Ask> = {}): Ask => ({ method: 'POST', path: `/api/result/${id}/rerun`, ...more }) // prettier-ignore
const put = (name: string, bytes: string, more: Partial<Ask> = {}): Ask => ({ method: 'PUT', path: `/api/blobs/${name}`, body: Buffer.from(bytes), headers: { 'Content-Type': 'application/octet-stream' }, ...more }) // prettier-ignore
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')
const copies = (length: number): object[] => Array.from({ length }, () => ({ ...python }))
const header = <N extends string>(name: N, text: string): { headers: Record<N, string> } => ({
  headers: { [name]: text } as Record<N, string>,
})
function newKey(): { headers: Record<'Idempotency-Key', string> } {
  return header('Idempotency-Key', randomUUID())
}
const record = ({ body }: Answer): Ask => get(`/api/result/${body.id as string}`)
const problem = (status: number, error: string, more: object = {}): Holds => ({
  status,
  body: { error, message: String, ...more },
})
/** Expects 400 with issues at exactly these paths. */
const wrong = (...issues: string[]): Holds => ({ ...problem(400, 'invalid_request'), issues })

const uuid = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const secret = { webhook_secret: 's' }
const hook = { webhook_url: 'https://hook.example/', ...secret }

const waiting: string = (await servers.open.call('POST', '/api/submit', { body: python })).body.id
const finished: string = (
  await servers.open.call('POST', '/api/submit', { body: { ...python, ...hook } })
).body.id
await finish(sql, finished, { stdout: Buffer.from([0x61, 0xff]), stderr: 'e' })
const stranger = await createCaller(sql)
const revoked = await createCaller(sql)
await revokeKey(sql, revoked.apiKeyId, 'test')
const expired = await createCaller(sql)
await sql`update runledger.api_key set expires_at = now() where id = ${expired.apiKeyId}`
const beta = await createCaller(sql, 'beta')
const spent = await createCaller(sql, 'beta')
const small = await createCaller(sql, 'beta')
const [key1, key2, key3, key4] = [newKey(), newKey(), newKey(), newKey()]
const [key5, key6] = [newKey(), newKey()]

// prettier-ignore
const contract: Readonly<Record<string, readonly Row[]>> = {
  'POST /api/submit': [
    ['given', 'language and code suffice: 202 and the id', post(python), { status: 202, body: { id: uuid } }],
    ['chosen', 'it says where the result will be', post(python), { status: 202, headers: { location: /^\/api\/result\/[\da-f-]{36}$/, 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' } }],
    ['given', 'wait=false is asynchronous', post(python, { path: '/api/submit?wait=false' }), { status: 202, body: { id: uuid } }],
    ['given', 'any other wait is 400', post(python, { path: '/api/submit?wait=1' }), wrong('?wait')],
    ['given', 'a repeated wait is 400', post(python, { path: '/api/submit?wait=true&wait=true' }), wrong('?wait')],
    ...['wait=', 'wait', 'wait=TRUE'].map((query): Row => ['given', `${query} is 400`, post(python, { path: `/api/submit?${query}` }), wrong('?wait')]),
    ...['sync', 'Wait', 'w', '__proto__'].map((name): Row => ['given', `the unknown parameter ${name} is 400`, post(python, { path: `/api/submit?${name}=true` }), wrong(`?${name}`)]),
    ...(['python', 'py'] as const).map((language): Row => ['given', `${language} is python`, [post({ language, code: '' }), record], { status: 200, body: { language: 'python' } }]),
    ...(['cpp', 'c++', 'cxx'] as const).map((language): Row => ['given', `${language} is cpp`, [post({ language, code: '' }), record], { status: 200, body: { language: 'cpp' } }]),
    ['given', 'java is java', [post({ language: 'java', code: '' }), record], { status: 200, body: { language: 'java' } }],
    ['given', 'another language is 400', post({ language: 'latin', code: '' }), wrong('language')],
    ['given', 'language is required', post({ code: '' }), wrong('language')],
    ['given', 'code is required', post({ language: 'py' }), wrong('code')],
    ['given', 'code may have 65,536 bytes of UTF-8', post({ ...python, code: 'é'.repeat(32_768) }), { status: 202 }],
    ['given', 'and no more', post({ ...python, code: `é${'x'.repeat(65_535)}` }), { ...wrong('code'), body: { issues: [{ message: 'is larger than 65536 bytes of UTF-8' }] } }],
    ['given', 'stdin may have 65,536 bytes', post({ ...python, stdin: 'x'.repeat(65_536) }), { status: 202 }],
    ['given', 'and no more', post({ ...python, stdin: 'x'.repeat(65_537) }), wrong('stdin')],
    ['given', 'webhook_url is https', post({ ...python, ...secret, webhook_url: 'http://hook.example/' }), wrong('webhook_url')],
    ['given', 'webhook_url needs its secret', post({ ...python, webhook_url: hook.webhook_url }), wrong('webhook_secret')],
    ['given', 'the secret may have 256 bytes', post({ ...python, ...hook, webhook_secret: 'é'.repeat(128) }), { status: 202 }],
    ['given', 'and no more', post({ ...python, ...hook, webhook_secret: 'é'.repeat(129) }), wrong('webhook_secret')],
    ['chosen', 'an empty secret is 400', post({ ...python, ...hook, webhook_secret: '' }), wrong('webhook_secret')],
    ['chosen', 'a secret without a URL is 400', post({ ...python, ...secret }), wrong('webhook_url')],
    ['chosen', 'the literal of an address that is not public is 400', post({ ...python, ...secret, webhook_url: 'https://127.1/' }), wrong('webhook_url')],
    ['chosen', 'every spelling of one', 'test/webhook/address.test.ts'],
    ['chosen', 'expected_stdout may have 65,536 bytes', post({ ...python, expected_stdout: 'x'.repeat(65_536) }), { status: 202 }],
    ['chosen', 'and no more', post({ ...python, expected_stdout: 'x'.repeat(65_537) }), wrong('expected_stdout')],
    ['chosen', 'white space at line ends and empty lines at the end are not compared', 'test/checker/lines.test.ts'],
    ['chosen', 'unknown fields are named', post({ ...python, sdtin: '', x: 1 }), wrong('sdtin', 'x')],
    ['chosen', '__proto__ is an unknown field', post('{"language":"py","code":"","__proto__":{}}'), wrong('__proto__')],
    ['chosen', 'code may hold NUL and any Unicode', post({ ...python, code: '\0\u2028\u{1f600}' }), { status: 202 }],
    ['chosen', 'it reaches the program byte for byte', 'test/http/execution.test.ts'],
    ['chosen', 'a lone surrogate is 400', post({ ...python, code: '\ud800' }), wrong('code')],
    ['chosen', 'invalid UTF-8 is 400', post(Buffer.from('{"language":"py","code":"\xff"}', 'latin1')), wrong('')],
    ['chosen', 'a byte-order mark is 400', post(`\ufeff${JSON.stringify(python)}`), wrong('')],
    ['chosen', 'of a field given twice the last counts', [post('{"language":"latin","code":"","language":"java"}'), record], { status: 200, body: { language: 'java' } }],
    ['given', 'wait=true answers the record', 'test/http/execution.test.ts'],
    ['given', 'a wait that takes too long is 408 with the id', post(python, { path: '/api/submit?wait=true' }), { ...problem(408, 'timeout', { id: uuid }), headers: { location: /^\/api\/result\/[\da-f-]{36}$/ } }],
    ['given', 'the submission goes on', [post(python, { path: '/api/submit?wait=true' }), record], { status: 200, body: { status: 'queued' } }],
    ['given', 'a used Idempotency-Key is 202 and the record', [post(python, key1), () => post(python, key1)], { status: 202, body: { id: uuid, status: 'queued' }, headers: { 'idempotency-replayed': 'true', 'idempotency-mismatch': undefined } }],
    ['chosen', 'another body replays too, and it is said', [post(python, key2), () => post({ ...python, code: '1' }, key2)], { status: 202, headers: { 'idempotency-replayed': 'true', 'idempotency-mismatch': 'true' } }],
    ['chosen', 'an alias is no difference', [post(python, key3), () => post({ ...python, language: 'py' }, key3)], { status: 202, headers: { 'idempotency-mismatch': undefined } }],
    ['chosen', 'keys are compared without case', [post(python, key4), () => post(python, header('Idempotency-Key', key4.headers['Idempotency-Key'].toUpperCase()))], { status: 202, headers: { 'idempotency-replayed': 'true' } }],
    ...['', 'x', '123', randomUUID().slice(1), `{${randomUUID()}}`, `${randomUUID()},`].map((text): Row => ['given', `a key is a UUID, ${text} is none`, post(python, header('Idempotency-Key', text)), { ...wrong('Idempotency-Key'), body: { issues: [{ message: 'must be a UUID' }] } }]),
    ['chosen', 'the body is validated before the key is looked up', post({}, key1), wrong('language', 'code')],
    ['chosen', 'a replay that waits in vain is 408', post(python, { ...key1, path: '/api/submit?wait=true' }), problem(408, 'timeout', { id: uuid })],
    ['chosen', '24 hours, races, no place in the queue', 'test/http/idempotency.test.ts'],
    ['given', 'who hangs up loses only the connection', 'test/http/wait.test.ts'],
  ],
  'GET /api/result/{id}': [
    ['chosen', 'a record that is not final is 200', get(`/api/result/${waiting}`), { status: 200, body: { status: 'queued', verdict: null, exit_code: null, stdout: null, cpu_time: null, finished_at: null } }],
    ['chosen', 'an id in capitals is the same id', get(`/api/result/${waiting.toUpperCase()}`), { status: 200, body: { id: waiting } }],
    ...['wait=1', 'wait=true&wait=true'].map((query): Row => ['chosen', `${query} is 400`, get(`/api/result/${waiting}?${query}`), wrong('?wait')]),
    ['chosen', 'an unknown parameter is 400', get(`/api/result/${waiting}?verbose=true`), wrong('?verbose')],
    ['chosen', 'an unknown id is 404', get(`/api/result/${randomUUID()}`), problem(404, 'not_found')],
    ['chosen', 'a malformed id is 404', get('/api/result/x'), problem(404, 'not_found')],
    ['chosen', 'another account’s is 404', get(`/api/result/${waiting}`, { key: stranger.key }), problem(404, 'not_found')],
    ['chosen', 'the three cannot be told apart', 'test/http/access.test.ts'],
    ['chosen', 'a long poll whose time is up is the record as it stands', get(`/api/result/${waiting}?wait=true`), { status: 200, body: { status: 'queued' } }],
    ['chosen', 'a long poll ends with the submission', 'test/http/read.test.ts'],
  ],
  'the result record': [
    ['given', 'completed, whatever the verdict', get(`/api/result/${finished}`), { status: 200, body: { id: uuid, status: 'completed', verdict: 'AC', exit_code: 0 } }],
    ['chosen', 'ids are v7 and sort by time', 'test/http/submit.test.ts'],
    ['chosen', 'invalid UTF-8 becomes U+FFFD', get(`/api/result/${finished}`), { status: 200, body: { stdout: 'a\ufffd', stderr: 'e' } }],
    ['chosen', 'signal, truncation and compiler output', get(`/api/result/${finished}`), { status: 200, body: { signal: null, stdout_truncated: false, stderr_truncated: false, compile_output: null } }],
    ['chosen', 'seconds, seconds, bytes', get(`/api/result/${finished}`), { status: 200, body: { cpu_time: 0.01, wall_time: 0.02, memory_peak: 9_000_000 } }],
    ['chosen', 'the language and the exact version', get(`/api/result/${finished}`), { status: 200, body: { language: 'python', runtime: 'Python 3.11.2' } }],
    ['chosen', 'times are RFC 3339 in UTC', get(`/api/result/${finished}`), { status: 200, body: { created_at: time, started_at: time, finished_at: time } }],
    ['chosen', 'given up: failed, IE, numbers 0, outputs empty', 'test/http/read.test.ts'],
    ['chosen', 'back to queued when we lost the run', 'test/job/rescue.test.ts'],
    ['chosen', '128 + n names the signal', 'test/executor/executor.test.ts'],
    ['chosen', 'AC, WA, RE, CE, TLE, MLE and OLE', 'test/http/execution.test.ts'],
    ['chosen', 'the first rule that holds decides', 'test/job/execute/verdict.test.ts'],
    ['chosen', 'IE after retries', 'test/job/execute/execute.test.ts'],
    ['chosen', 'a run ends with its main process', 'test/executor/box/phase.test.ts'],
    ['chosen', 'set-up is not charged, children are', 'test/executor/box/phase.test.ts'],
  ],
  authentication: [
    ['given', 'no key is 401', post(python, { key: null }), problem(401, 'unauthorized')],
    ['given', 'an unknown key is 401', post(python, { key: `rl_live_${'0'.repeat(39)}` }), problem(401, 'unauthorized')],
    ['given', 'a malformed key is 401', post(python, { key: 'x' }), problem(401, 'unauthorized')],
    ['given', 'a revoked key is 401', post(python, { key: revoked.key }), problem(401, 'unauthorized')],
    ['given', 'an expired key is 401', post(python, { key: expired.key }), problem(401, 'unauthorized')],
    ['given', 'checked before the body is read', 'test/http/access.test.ts'],
    ['given', 'a digest only is stored; rotation has an overlap', 'test/http/access.test.ts'],
    ['given', 'compared in constant time', 'test/account/account.test.ts'],
    ['given', 'issued, listed, rotated and revoked on the command line', 'test/cli/cli.test.ts'],
    ['given', 'and never over HTTP', get('/api/keys'), problem(404, 'not_found')],
    ['given', 'never logged', 'test/log/log.test.ts'],
  ],
  limits: [
    ['given', 'beta is 60 requests a minute', get('/api/languages', { key: beta.key }), { status: 200, headers: { 'ratelimit-policy': '"requests";q=60;w=60', ratelimit: /^"requests";r=58;t=\d{1,2}$/ } }],
    ['given', 'one more is 429, and says when', post(python, { key: spent.key }), { ...problem(429, 'rate_limited'), headers: { 'retry-after': /^(60|[1-5]?\d)$/, ratelimit: /^"requests";r=0;t=\d+$/ } }],
    ['chosen', 'a request that is refused otherwise counts', [post({}, { key: beta.key }), () => get('/api/languages', { key: beta.key })], { status: 200, headers: { ratelimit: /;r=56;/ } }],
    ['given', 'a key without a limit has none', get('/api/languages'), { status: 200, headers: { ratelimit: undefined } }],
    ['given', 'any 60 seconds, all processes, Retry-After true; tiers are rows', 'test/http/rate-window.test.ts'],
    ['given', '10 at once of one key, the eleventh waits', 'test/http/concurrency.test.ts'],
    ['given', 'a full queue is 503 with Retry-After', post(python, { on: 'full' }), { ...problem(503, 'queue_full'), headers: { 'retry-after': /^[1-9]\d?$/ } }],
    ['given', 'and leaves nothing behind', 'test/http/refusal.test.ts'],
    ['given', 'its Retry-After is true', 'test/http/retry-after.test.ts'],
  ],
  errors: [
    ['chosen', 'bad JSON', post('{'), wrong('')],
    ...['[]', '"a text"', '[1, 2]', 'null', 'true'].map((body): Row => ['chosen', `${body} is no object`, post(body), { ...wrong(''), body: { issues: [{ message: 'must be a JSON object' }] } }]),
    ['chosen', 'wrong types', post({ language: 1, code: null }), wrong('language', 'code')],
    ['chosen', 'every problem at once', post({ x: 1, stdin: 3, webhook_url: 'http://hook.example/' }, { path: '/api/submit?wait=x&y=1', ...header('Idempotency-Key', '1') }), wrong('?y', '?wait', 'Idempotency-Key', 'x', 'language', 'code', 'stdin', 'webhook_url', 'webhook_secret')],
    ['chosen', 'bad JSON hides no mistake of the query', post('{', { path: '/api/submit?wait=1' }), wrong('?wait', '')],
    ['chosen', 'a body over 2 MiB is 400', post(' '.repeat(2 * 1024 * 1024 + 1)), wrong('')],
    ['chosen', 'and is not read to its end', 'test/http/transport.test.ts'],
    ['chosen', 'an unknown path is 404', get('/api/nothing'), problem(404, 'not_found')],
    ['chosen', 'under /api the key comes first', get('/api/nothing', { key: null }), problem(401, 'unauthorized')],
    ['chosen', 'beyond it there is none', get('/nothing', { key: null }), problem(404, 'not_found')],
    ['chosen', 'another method is 405 with Allow', get('/api/submit'), { ...problem(405, 'method_not_allowed'), headers: { allow: 'POST' } }],
    ['chosen', 'another media type is 415', post(JSON.stringify(python), header('Content-Type', 'text/plain')), problem(415, 'unsupported_media_type')],
    ['chosen', 'any Content-Encoding is 415', post(JSON.stringify(python), header('Content-Encoding', 'gzip')), problem(415, 'unsupported_media_type')],
    ['chosen', 'a request that does not arrive is 408 without an id', 'test/http/transport.test.ts'],
    ['chosen', 'a database that is away is 503 unavailable', 'test/http/outage.test.ts'],
    ['chosen', '500 has an id that is in the log, and nothing else', 'test/http/problem.test.ts'],
  ],
  webhooks: [
    ['chosen', 'the record says where it stands', get(`/api/result/${finished}`), { status: 200, body: { webhook: { id: /./, state: 'pending', attempts: 0 } } }],
    ['chosen', 'none is null', get(`/api/result/${waiting}`), { status: 200, body: { webhook: null } }],
    ['given', 'the final record is POSTed; 2xx, redirects, 410, Retry-After, the secret’s end', 'test/job/deliver.test.ts'],
    ['chosen', 'headers and signature as Standard Webhooks word them', 'test/webhook/signature.test.ts'],
    ['chosen', 'tried again after 5 s, 5 min, …', 'test/webhook/retry.test.ts'],
    ['chosen', 'addresses are judged when the connection is made', 'test/webhook/connect.test.ts'],
  ],
  transport: [
    ['given', 'behind a router what did not come over HTTPS is 403', post(python, { on: 'proxied' }), problem(403, 'https_required')],
    ['given', 'what did passes, and is told to stay', post(python, { on: 'proxied', ...header('X-Forwarded-Proto', 'https') }), { status: 202, headers: { 'strict-transport-security': /^max-age=\d{8}/ } }],
    ['given', 'alone, X-Forwarded-Proto says nothing', post(python, header('X-Forwarded-Proto', 'https')), { status: 202, headers: { 'strict-transport-security': undefined } }],
    ['given', 'with a certificate it speaks HTTPS itself', 'test/http/https.test.ts'],
  ],
  'beyond the given': [
    ['chosen', 'languages; none while no worker lives', get('/api/languages'), { status: 200, body: { languages: [] } }],
    ['chosen', 'versions, command lines and limits of the live workers', 'test/http/read.test.ts'],
    ['chosen', 'the account’s own submissions, without bodies', get('/api/submissions', { key: stranger.key }), { status: 200, body: { submissions: [], next_cursor: null } }],
    ['chosen', 'pages, newest first', get('/api/submissions?limit=1'), { status: 200, body: { submissions: [{ id: uuid, stdout: undefined }], next_cursor: String } }],
    ['chosen', 'by status, verdict and language', get('/api/submissions?status=completed&verdict=AC&language=py'), { status: 200, body: { submissions: [{ id: finished }], next_cursor: null } }],
    ...['0', '101', '1.5', '', '-1', '1&limit=2'].map((limit): Row => ['chosen', `1 to 100 at once, not ${limit}`, get(`/api/submissions?limit=${limit}`), wrong('?limit')]),
    ['chosen', 'a cursor is ours', get('/api/submissions?cursor=x'), wrong('?cursor')],
    ['chosen', 'it is not empty', get('/api/submissions?cursor='), wrong('?cursor')],
    ['chosen', 'every mistake of a list’s query is named', get('/api/submissions?limit=0&cursor=x&status=done&verdict=OK&language=latin&page=2'), wrong('?cursor', '?language', '?limit', '?page', '?status', '?verdict')],
    ['chosen', 'events, oldest first', get(`/api/result/${finished}/events`), { status: 200, body: { events: [{ version: 1, type: 'submission.received', at: time }, { version: 2, type: 'execution.started' }, { version: 3, type: 'execution.completed' }] } }],
    ['chosen', 'they have no parameters', get(`/api/result/${finished}/events?wait=true`), wrong('?wait')],
    ['chosen', 'nothing of ours in them', 'test/http/read.test.ts'],
    ['chosen', 'what waits is cancelled, for good', [post(python), ({ body }) => post(undefined, { path: `/api/result/${body.id as string}/cancel` })], { status: 200, body: { status: 'cancelled', verdict: null, stdout: '', finished_at: time } }],
    ['chosen', 'what runs is killed, and what it had written is kept', 'test/http/cancel.test.ts'],
    ['chosen', 'to cancel what has ended changes nothing', post(undefined, { path: `/api/result/${finished}/cancel` }), { status: 200, body: { id: finished, status: 'completed', verdict: 'AC' } }],
    ['chosen', 'another account’s is not there to be cancelled', post(undefined, { path: `/api/result/${finished}/cancel`, key: stranger.key }), problem(404, 'not_found')],
    ['chosen', 'a cancel has no parameters', post(undefined, { path: `/api/result/${finished}/cancel?wait=true` }), wrong('?wait')],
    ['chosen', 'what has ended is run again: 202, the id and where its result will be', again(finished), { status: 202, body: { id: uuid, status: undefined }, headers: { location: /^\/api\/result\/[\da-f-]{36}$/ } }],
    ['chosen', 'its record names the first', [again(finished), record], { status: 200, body: { status: 'queued', rerun_of: finished, webhook: null } }],
    ['chosen', 'and so does a rerun’s rerun', 'test/http/rerun.test.ts'],
    ['chosen', 'what was sent by its caller names none', get(`/api/result/${finished}`), { status: 200, body: { rerun_of: null } }],
    ['chosen', 'a rerun’s Idempotency-Key is 202 and the record', [again(finished, key5), () => again(finished, key5)], { status: 202, body: { id: uuid, rerun_of: finished }, headers: { 'idempotency-replayed': 'true', 'idempotency-mismatch': undefined } }],
    ['chosen', 'of another submission it replays too, and it is said', [again(finished, key6), () => post(python, key6)], { status: 202, body: { rerun_of: finished }, headers: { 'idempotency-replayed': 'true', 'idempotency-mismatch': 'true' } }],
    ['chosen', 'its body, and ids that are none; unfinished, purged, limits and languages of today, places, the same verdict', 'test/http/rerun.test.ts'],
    ['chosen', 'every field’s every mistake is named, alone and with others’', 'test/http/mistakes.test.ts'],
    ['chosen', 'what the program has left under them comes back', 'test/http/output-files.test.ts'],
    ['chosen', 'env sets no variable with which its language is started', post({ language: 'icon', code: '', env: { MSTKSIZE: '1' } }), wrong('env.MSTKSIZE')],
    ['chosen', 'the program finds them', 'test/ordinary/ordinary.test.ts'],
    ['chosen', 'what is low waits until none waits that is not', 'test/job/queue/priority.test.ts'],
    ['chosen', 'a blob is kept under its digest', put(digestOf('a'), 'a'), { status: 201, body: { sha256: digestOf('a'), size: 1 } }],
    ['chosen', 'and under no other', put(digestOf('a'), 'b'), wrong('')],
    ['chosen', 'a submission names it', [put(digestOf('a'), 'a'), () => post({ ...python, stdin_sha256: digestOf('a') })], { status: 202 }],
    ['chosen', 'a name is the whole digest in lower case', post({ ...python, stdin_sha256: digestOf('a').slice(1), expected_stdout_sha256: digestOf('a').toUpperCase() }), wrong('stdin_sha256', 'expected_stdout_sha256')],
    ['chosen', 'what is not there, or is another account’s, is named', [put(digestOf('c'), 'c', { key: stranger.key }), () => post({ ...python, stdin_sha256: digestOf('c'), expected_stdout_sha256: digestOf('d') })], wrong('stdin_sha256', 'expected_stdout_sha256')],
    ['chosen', 'quotas, uploads that break off, what a worker reads of them', 'test/http/blob.test.ts'],
    ['chosen', 'another account’s stream is 404', get(`/api/result/${finished}/stream`, { key: stranger.key }), problem(404, 'not_found')],
    ['chosen', 'a stream goes on at Last-Event-ID, and at any other one from the beginning', 'test/http/stream.test.ts'],
    ['chosen', 'a receipt of what has ended; 409 before, 404 of another account’s', 'test/http/receipt.test.ts'],
    ['chosen', 'another account’s events are 404', get(`/api/result/${finished}/events`, { key: stranger.key }), problem(404, 'not_found')],
    ['chosen', 'a batch answers each item in its place', batch([python, {}]), { status: 202, body: { submissions: [{ id: uuid }, { error: 'invalid_request', message: String, issues: [{ path: 'language' }, { path: 'code' }] }] } }],
    ['chosen', 'twenty items of a beta key', batch(copies(20), { key: small.key }), { status: 202 }],
    ['chosen', 'not twenty-one', batch(copies(21), { key: small.key }), wrong('submissions')],
    ['chosen', 'of an unlimited key not 1,001', batch(copies(1001)), wrong('submissions')],
    ['chosen', 'not none', batch([]), wrong('submissions')],
    ['chosen', 'a batch cannot wait', batch([python], { path: '/api/submit/batch?wait=true' }), wrong('?wait')],
    ['chosen', '503 for all', batch([python, python], { on: 'full' }), problem(503, 'queue_full')],
    ['chosen', 'one request of the rate limit, one transaction, one Idempotency-Key', 'test/http/batch.test.ts'],
    ['chosen', 'the process lives', get('/healthz', { key: null }), { status: 200, body: { status: 'ok' } }],
    ['chosen', 'the database answers, migrations are in place', get('/readyz', { key: null }), { status: 200, body: { status: 'ok' } }],
    ['chosen', 'figures for Prometheus', get('/metrics', { key: null, checked: false }), { status: 200, headers: { 'content-type': /^text\/plain/ } }],
    ['chosen', 'OpenAPI 3.1', get('/openapi.json', { key: null, checked: false }), { status: 200, body: { openapi: /^3\.1\./ } }],
    ['chosen', 'whatever is sent, no answer but these', 'test/http/fuzz.test.ts'],
  ],
}

for (const [part, rows] of Object.entries(contract)) {
  t.test(part, async (t) => {
    // Only now, because it lasts 60 seconds.
    if (part === 'limits')
      await sql`update runledger.rate_window set admitted_at = array[now()], requests = '{60}' where api_key_id = ${spent.apiKeyId}`
    for (const row of rows) {
      const name = `${row[1]} [${row[0]}]`
      if (row.length === 3) {
        t.ok(existsSync(resolve(import.meta.dirname, '../..', row[2])), `${name}: ${row[2]}`)
        continue
      }
      const [, , asked, holds] = row
      const { status, body, headers } = await askAll(asked)
      t.equal(status, holds.status, name)
      if (holds.body !== undefined) t.match(body, holds.body, name)
      if (holds.issues !== undefined) {
        const issues = body.issues as readonly { readonly path: string }[]
        t.strictSame(issues.map(({ path }) => path).toSorted(), holds.issues.toSorted(), name)
      }
      for (const [header, wanted] of Object.entries(holds.headers ?? {})) {
        if (wanted === undefined) t.equal(headers[header], undefined, name)
        else t.match(headers[header], wanted, name)
      }
    }
  })
}

async function askAll(asked: Ask | Asks): Promise<Answer> {
  const [first, ...later] = 'method' in asked ? [asked] : asked
  let answer = await ask(first)
  for (const next of later) answer = await ask(next(answer))
  return answer
}

function ask({ method, path, on = 'open', ...more }: Ask): Promise<Answer> {
  return servers[on].call(method, path, more)
}
