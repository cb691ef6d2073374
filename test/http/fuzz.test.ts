// Sends generated requests to a running server. No answer is a 5xx other than 503, no request hangs, every answer fits the
// contract, and a submission is accepted exactly when a model of the rules accepts it. The seed is printed; SEED repeats a
// run.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import * as fc from 'fast-check'
import t from 'tap'
import { finish } from '../helper/execution.ts'
import { findBroken } from '../helper/ledger.ts'
import { seed } from '../helper/seed.ts'
import { startFreshServer, startServer, untilAvailable } from '../helper/server.ts'

const { call, issue, port, sql, url } = await startFreshServer(t, { syncWaitSeconds: 0.01 })
/** Ends soon a request that does not arrive. */
const hasty = await startServer(t, sql, { url, syncWaitSeconds: 0.01, requestSeconds: 2 })
const key = await issue()
t.comment(`SEED=${seed}`)
const parameters = (numRuns: number): fc.Parameters<unknown> => ({
  numRuns,
  seed,
  endOnFailure: true, // shrinking would run for minutes
})

const codeUnits = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
  .map((units) => String.fromCharCode(...units))
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  codeUnits,
  fc.string(),
  fc.constantFrom(
    '',
    '\0',
    '\ud800',
    '\ufeff',
    'é'.repeat(32_768),
    'x'.repeat(65_536),
    'x'.repeat(65_537),
  ),
)
const fieldNames = [
  'language', 'code', 'stdin', 'expected_stdout', 'webhook_url', 'webhook_secret', 'priority',
  'output_files', 'stdin_sha256', '__proto__', 'constructor', 'toString', 'extra',
] // prettier-ignore
const languageNames = ['python', 'py', 'cpp', 'c++', 'cxx', 'java']
const blob = Buffer.from('a blob')
const blobName = createHash('sha256').update(blob).digest('hex')
await call('PUT', `/api/blobs/${blobName}`, {
  key,
  body: blob,
  headers: { 'Content-Type': 'application/octet-stream' },
})
const digests = fc.oneof(
  { weight: 4, arbitrary: fc.constant(blobName) },
  fc.constantFrom(blobName.toUpperCase(), blobName.slice(1), `${blobName}\n`),
  fc.stringMatching(/^[0-9a-f]{64}$/),
)
const fileNames = fc.oneof(fc.stringMatching(/^[\w.-]{1,5}(\/[\w.-]{1,5}){0,9}$/), {
  weight: 5,
  arbitrary: fc.constantFrom('a', 'A', 'a/b', 'A/c', 'Main.py', '../a', 'é'),
})
const accepted = fc.record(
  { language: fc.constantFrom(...languageNames), code: text, stdin: text, expected_stdout: text },
  { requiredKeys: ['language', 'code'] },
)
const detailed = fc.record(
  {
    language: fc.constantFrom(...languageNames),
    code: fc.string(),
    expected_stdout: fc.string(),
    priority: fc.constantFrom('low', 'normal', 'low', 'high'),
    output_files: fc.array(fileNames, { maxLength: 3 }),
    stdin_sha256: digests,
  },
  { requiredKeys: ['language', 'code'] },
)
const urls = fc.oneof(
  fc.webUrl({ validSchemes: ['https', 'http', 'ftp'], withQueryParameters: true }),
  fc.ipV4().map((address) => `https://${address}/`),
  fc.ipV6().map((address) => `https://[${address}]/`),
  text,
)
const loose = fc.dictionary(
  fc.constantFrom(...fieldNames),
  fc.oneof(text, fc.constantFrom(...languageNames), urls, fc.jsonValue()),
)
const webhooked = fc
  .tuple(accepted, urls, text)
  .map(([rest, webhook_url, webhook_secret]) => ({ ...rest, webhook_url, webhook_secret }))
const submission = fc.oneof(
  { weight: 3, arbitrary: accepted },
  { weight: 2, arbitrary: detailed },
  loose,
  webhooked,
  fc.jsonValue(),
)

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
  submission.map((value) => Buffer.from(JSON.stringify(value) ?? '')),
  fc.tuple(submission, fc.nat(), fc.nat(255)).map(([value, at, byte]) => {
    const buffer = Buffer.from(JSON.stringify(value) ?? '')
    if (buffer.length > 0) buffer[at % buffer.length] = byte
    return buffer
  }),
  fc.nat(30_000).map((depth) => Buffer.from('['.repeat(depth))),
)

const path = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '/api/submit',
      '/api/submit/batch',
      '/api/submissions',
      '/api/languages',
    ),
  },
  fc
    .oneof(fc.uuid(), fc.webSegment(), fc.constantFrom('%00', '%', '%ff', '..', "'"))
    .map((id) => `/api/result/${id}`),
  fc.uuid().map((id) => `/api/result/${id}/events`),
  fc.constantFrom('/', '/healthz', '/readyz', '/openapi.json', '/api', '/metrics/x'),
  fc.webPath(),
)
const query = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  fc.constantFrom(
    '?wait=true',
    '?wait=false',
    '?wait=1',
    '?wait=true&wait=true',
    '?',
    '?limit=5',
    '?cursor=x',
    '?status=queued',
  ),
  fc.webQueryParameters().map((parameters) => `?${parameters}`),
)
const headerText = fc.stringMatching(/^[\x21-\x7e\x80-\xff]{0,30}$/)
const headers = fc.record(
  {
    'Content-Type': fc.oneof(
      fc.constantFrom('application/json', 'text/plain', 'application/json;charset=x'),
      headerText,
    ),
    'Idempotency-Key': fc.oneof(fc.uuid(), headerText),
    Prefer: fc.oneof(fc.constant('wait=0'), headerText),
    'Content-Encoding': fc.constantFrom('gzip', 'identity', ''),
    'X-Forwarded-Proto': fc.constantFrom('https', 'http', 'x'),
    Expect: headerText,
  },
  { requiredKeys: [] },
)

const batch = fc.oneof(
  fc.array(submission, { maxLength: 22 }).map((submissions) => ({ submissions })),
  fc.record({ submissions: fc.jsonValue() }),
)
const someHeaders = fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, headers)
const anything = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'PROPFIND'),
  target: fc.tuple(path, query).map((parts) => parts.join('')),
  headers: someHeaders,
  body: bytes,
})
// These requests have an existing route, so that they reach the code where more can go wrong.
const fitting = fc.record({
  method: fc.constant('POST'),
  target: fc.tuple(fc.constant('/api/submit'), query).map((parts) => parts.join('')),
  headers: someHeaders,
  body: bytes,
})
const fittingBatch = fc.record({
  method: fc.constant('POST'),
  target: fc.constant('/api/submit/batch'),
  headers: someHeaders,
  body: batch.map((value) => Buffer.from(JSON.stringify(value))),
})
const fittingRead = fc.record({
  method: fc.constant('GET'),
  target: fc.tuple(path, query).map((parts) => parts.join('')),
  headers: someHeaders,
  body: fc.constant(Buffer.alloc(0)),
})
const request = fc.oneof(anything, fitting, fittingBatch, fittingRead)

t.test('4,000 requests of every kind are answered as the contract says', async (t) => {
  const statuses = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 20, maxLength: 20 }), async (requests) => {
      await Promise.all(
        requests.map(async ({ method, target, headers, body }) => {
          const given = { key, headers, ...(method !== 'GET' && method !== 'HEAD' && { body }) }
          const { status, text } = await call(method, target, given)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          if (status >= 500 && status !== 503) throw new Error(`${method} ${target}: ${text}`)
          if (
            /\bat (?:file|node):|node_modules|PostgresError|\bselect\b.*\bfrom\b/.test(text) &&
            status >= 400
          ) {
            throw new Error(`it shows something of ours: ${text}`)
          }
        }),
      )
    }),
    parameters(200),
  )
  t.comment(JSON.stringify(Object.fromEntries(statuses)))
  for (const status of [200, 202, 400, 404, 405, 415]) {
    t.ok(statuses.has(status), `${status} was among the answers`)
  }
})

t.test('2,000 submissions are accepted by the rules alone, and kept byte for byte', async (t) => {
  let received = 0
  await fc.assert(
    fc.asyncProperty(fc.array(submission, { minLength: 20, maxLength: 20 }), async (bodies) => {
      await Promise.all(
        bodies.map(async (body) => {
          const { status,
              body: answer,
              text,
            } = await untilAvailable(() => call('POST', '/api/submit', { key, body: JSON.stringify(body) })) // prettier-ignore
          const expected = isAcceptable(body)
          if (expected !== null && (status === 202) !== expected) {
            throw new Error(`${status} ${text}`)
          }
          if (status !== 202) return
          received += 1
          const [row] = await sql`
            select code, stdin from runledger.body where submission_id = ${answer.id}`
          const { code, stdin = '' } = body as { code: string; stdin?: string }
          if (
            !row?.['code'].equals(Buffer.from(code)) ||
            !row?.['stdin'].equals(Buffer.from(stdin))
          ) {
            throw new Error('the bodies were not kept byte for byte')
          }
        }),
      )
    }),
    parameters(100),
  )
  t.ok(received > 100, `${received} received`)
})

t.test('200 positions in a stream are none, or one that it has', async (t) => {
  const statuses = new Set<number>()
  const { body } = await call('POST', '/api/submit', { key, body: { language: 'py', code: '' } })
  await finish(sql, body.id as string, { stdout: 'x'.repeat(100) })
  const number = fc.oneof(fc.nat(120), fc.bigInt({ min: -1n, max: 10n ** 25n }))
  const position = fc.oneof(
    headerText,
    fc
      .tuple(
        fc.constantFrom('q', 'r', 'e', 'x', ''),
        fc.constantFrom('', '2', 'x', body.id as string),
        fc.array(number, { maxLength: 6 }),
      ) // prettier-ignore
      .map(([stage, run, numbers]) => [stage, run, ...numbers].join('.')),
  )
  await fc.assert(
    fc.asyncProperty(position, async (lastEventId) => {
      const path = `/api/result/${body.id as string}/stream`
      const headers = { 'X-API-Key': key, 'Last-Event-ID': lastEventId }
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
      const told = await answer.text()
      statuses.add(answer.status)
      if (answer.status === 204) return
      if (answer.status !== 200 || !/^event: result$/m.test(told)) throw new Error(told)
    }),
    parameters(200),
  )
  t.ok(statuses.has(200))
})

t.test('300 connections that send anything get JSON or nothing, and end', async (t) => {
  const garbage = fc.array(
    fc.oneof(
      fc.uint8Array({ maxLength: 100 }).map((array) => Buffer.from(array)),
      fc
        .constantFrom(
          `POST /api/submit HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n`,
          'Content-Length: 5\r\n',
          'Transfer-Encoding: chunked\r\n',
          'Expect: 100-continue\r\n',
          '\r\n',
          '5\r\n{"a":\r\n',
          '0\r\n\r\n',
          'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
        )
        .map((line) => Buffer.from(line)),
    ),
    { minLength: 1, maxLength: 12 },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(garbage, { minLength: 30, maxLength: 30 }), async (connections) => {
      const answers = await Promise.all(connections.map((pieces) => exchangeAndClose(pieces)))
      for (const answer of answers) {
        if (!isJsonThroughout(answer)) throw new Error(JSON.stringify(answer))
      }
    }),
    parameters(10),
  )
  t.equal((await hasty.call('GET', '/healthz')).status, 200)
})

t.test('afterwards every promise of the database holds', async (t) => {
  t.strictSame(await findBroken(sql), [])
})

async function exchangeAndClose(pieces: readonly Buffer[]): Promise<string> {
  const socket = connect(hasty.port, '127.0.0.1')
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1'))).on('error', () => {})
  for (const piece of pieces) socket.write(piece)
  socket.end()
  if (!socket.closed) await once(socket, 'close')
  return received
}

/** Returns whether this is a sequence of whole answers, each with a JSON body and none a 5xx other than 503. */
function isJsonThroughout(received: string): boolean {
  let rest = received
  while (rest !== '') {
    const head = /^HTTP\/1\.1 (?!5(?!03))(\d{3}) [^\r]*\r\n((?:[^\r\n]+\r\n)*)\r\n/.exec(rest)
    if (head === null) return false
    rest = rest.slice(head[0].length)
    if (head[1] === '100') continue
    const length = Number(/^content-length: (\d+)\r?$/im.exec(head[2] ?? '')?.[1])
    if (!/^\{[^]*\}$/.test(rest.slice(0, length))) return false
    JSON.parse(rest.slice(0, length))
    rest = rest.slice(length)
  }
  return true
}

/** Models the field table, written from the contract a second time. @returns null when only the URL's rules decide. */
function isAcceptable(body: unknown): boolean | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false
  const entries = Object.entries(body as Record<string, unknown>)
  if (!entries.every(([name]) => fieldNames.slice(0, 9).includes(name))) return false
  const fields = new Map(entries)
  const isText = (name: string, bytes: number): boolean => {
    const value = fields.get(name)
    return typeof value === 'string' && value.isWellFormed() && Buffer.byteLength(value) <= bytes
  }
  if (!languageNames.includes(fields.get('language') as string) || !isText('code', 65_536))
    return false
  for (const name of ['stdin', 'expected_stdout']) {
    if (fields.has(name) && !isText(name, 65_536)) return false
  }
  if (fields.has('priority') && !['low', 'normal'].includes(fields.get('priority') as string))
    return false
  if (fields.has('output_files') && !areOutputFiles(fields.get('output_files'), fields))
    return false
  if (
    fields.has('stdin_sha256') &&
    (fields.has('stdin') || fields.get('stdin_sha256') !== blobName)
  )
    return false
  if (fields.has('webhook_url') !== fields.has('webhook_secret')) return false
  if (!fields.has('webhook_url')) return true
  if (!isText('webhook_secret', 256) || /^$|\0/.test(fields.get('webhook_secret') as string))
    return false
  const webhookUrl = fields.get('webhook_url')
  return typeof webhookUrl === 'string' && /^https:/i.test(webhookUrl.trim()) ? null : false
}

/** The names of the program's own files, by the first letter of `language`. */
const ownFiles: Readonly<Record<string, readonly string[]>> = {
  p: ['main.py'],
  c: ['main.cpp', 'main'],
  j: ['main.jar', 'out'],
}

function areOutputFiles(list: unknown, fields: ReadonlyMap<string, unknown>): boolean {
  if (!Array.isArray(list) || list.length > 16) return false
  const names = list as readonly unknown[]
  if (!names.every((name) => typeof name === 'string')) return false
  const own = ownFiles[(fields.get('language') as string).slice(0, 1)]!
  const all = [...own, ...names.map((name) => name.toLowerCase())]
  const isPlain = (name: string): boolean => {
    const parts = name.split('/')
    const areRight = parts.every((part) => /^[\w.-]+$/.test(part) && part !== '.' && part !== '..')
    return areRight && parts.length <= 8 && name.length <= 255
  }
  return all.every(
    (name, index) =>
      isPlain(name) &&
      all.every((other, at) => at === index || (other !== name && !other.startsWith(`${name}/`))),
  )
}
