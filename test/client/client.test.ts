// The client against the real server, and its webhook check against the published one.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { RunledgerError, createClient, nameBlob, verifyWebhook } from '#client'
import type { Result, StreamEvent } from '#client'
import { contract } from '../helper/contract.ts'
import { finish, pretendWorker } from '../helper/execution.ts'
import { startFreshServer } from '../helper/server.ts'
import { createAuthority } from '../webhook/certificate.ts'

const server = await startFreshServer(t, { syncWaitSeconds: 0.3 })
const { sql } = server
const clientKey = await server.issue()
const client = createClient({ url: `http://127.0.0.1:${server.port}`, apiKey: clientKey })
const python = { language: 'python', code: 'print(1)' } as const

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => new Error('it succeeded'),
    (error: unknown) => error,
  )

t.test('it depends on nothing', async (t) => {
  const folder = new URL('../../clients/typescript/src/', import.meta.url)
  const names = readdirSync(folder).filter((name) => name.endsWith('.ts'))
  for (const name of names) {
    const source = readFileSync(new URL(name, folder), 'utf8')
    const imported = [...source.matchAll(/\bfrom '([^']+)'/g)].map(([, path = '']) => path)
    for (const path of imported) t.ok(names.includes(path.replace(/^\.\//, '')), `${name}: ${path}`)
    t.notMatch(source, /^import '|\bimport\(|\brequire\(/m, name)
  }
})

t.test('its record has the fields of the contract’s', async (t) => {
  // The compiler compares the fields with the type, the test compares them with the document.
  const fields: Readonly<Record<keyof Required<Result>, true>> = {
    id: true, status: true, verdict: true, fault: true, retry: true, exit_code: true, signal: true, stdout: true, stderr: true,
    stdout_truncated: true, stderr_truncated: true, compile_output: true, cpu_time: true, wall_time: true,
    memory_peak: true, language: true, runtime: true, created_at: true, started_at: true, finished_at: true,
    purged_at: true, compile: true, limit: true, difference: true, tests: true, files: true, tag: true,
    rerun_of: true, limits: true, message: true, attempt: true, cancel_requested_at: true, webhook: true,
    score: true, max_score: true, groups: true,
  } // prettier-ignore
  const { properties } = contract.components.schemas['Result'] as { properties: object }
  t.strictSame(Object.keys(fields).toSorted(), Object.keys(properties).toSorted())
})

t.test('submit resolves with the id, read with the record', async (t) => {
  const { id } = await client.submit(python)
  t.match(await client.read(id), { id, status: 'queued' })
})

t.test('it lists, and tells what was submitted and what happened', async (t) => {
  const [first, second] = [await client.submit({ ...python, tag: 'listed' }), await client.submit({ ...python, tag: 'listed' })] // prettier-ignore
  await finish(sql, first.id, { stdout: '1\n' })
  const page = await client.list({ tag: 'listed', limit: 1 })
  t.match(page, { submissions: [{ id: second.id, status: 'queued' }], next_cursor: String })
  const next = await client.list({ tag: 'listed', cursor: page.next_cursor ?? '' })
  t.match(next, { submissions: [{ id: first.id, verdict: 'AC' }], next_cursor: null })
  t.ok((await client.list()).submissions.length >= 2)
  t.strictSame((await client.request(first.id)).request, { ...python, tag: 'listed' })
  const absent = randomUUID()
  t.match(await client.results([second.id, absent, first.id]), [
    { id: second.id, status: 'queued' },
    { id: absent, error: 'not_found' },
    { id: first.id, stdout: '1\n' },
  ])
  const types = (await client.events(first.id)).map(({ type }) => type)
  t.strictSame(types, ['submission.received', 'execution.started', 'execution.completed'])
  await pretendWorker(sql, { python: { version: 'Python 3', compile: null, run: ['python3', 'main.py'] } }) // prettier-ignore
  t.match(await client.languages(), [{ name: 'python', runtime: 'Python 3', workers: 1 }])
})

t.test('without an answer it says from where, and why', async (t) => {
  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address() as AddressInfo
  closed.close()
  const failure = (url: string): Promise<unknown> =>
    failureOf(createClient({ url, apiKey: 'k', retries: 0 }).read('a'))
  t.match(await failure(`http://127.0.0.1:${port}`), {
    status: 0,
    code: 'unreachable',
    message: `no answer from http://127.0.0.1:${port} (ECONNREFUSED)`,
  })
  const authority = createAuthority()
  t.teardown(() => authority.remove())
  const secure = createSecureServer(authority.selfSign(['IP:127.0.0.1'])).listen(0, '127.0.0.1')
  t.teardown(() => secure.close())
  await once(secure, 'listening')
  const origin = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`
  t.match(await failure(origin), {
    message: `no answer from ${origin} (self-signed certificate, DEPTH_ZERO_SELF_SIGNED_CERT)`,
  })
  const streamed = createClient({ url: origin, apiKey: 'k', retries: 0 }).stream('a')
  t.match(await failureOf(streamed.next()), { message: /^no answer from https:.*self-signed/ })
})

t.test('a blob is uploaded once, and named', async (t) => {
  const bytes = new TextEncoder().encode('a long input')
  const name = await nameBlob(bytes)
  t.match(name, /^[0-9a-f]{64}$/)
  t.equal(await client.hasBlob(name), false)
  t.equal(await client.putBlob(bytes), name)
  t.equal(await client.putBlob(bytes), name)
  t.equal(await client.hasBlob(name), true)
  t.match(await client.submit({ ...python, stdin_sha256: name }), { id: /./ })
  const answer = await failureOf(client.submit({ ...python, stdin_sha256: '0'.repeat(64) }))
  t.match(answer, { status: 400, issues: [{ path: 'stdin_sha256' }] })
})

t.test('wait goes on past the server’s own limit', async (t) => {
  const { id } = await client.submit(python)
  setTimeout(() => void finish(sql, id, { stdout: '1\n' }), 1200)
  t.match(await client.wait(id), { id, status: 'completed', stdout: '1\n' })
})

t.test('a stream tells each event once, over as many connections as that takes', async (t) => {
  t.match(await failureOf(client.stream(randomUUID()).next()), { status: 404 })
  const { id } = await client.submit(python)
  // A proxy that breaks off every stream, each time a little later.
  let connections = 0
  const cut = createClient({
    url: `http://127.0.0.1:${server.port}`,
    apiKey: clientKey,
    retries: 50,
    fetch: async (...call) => {
      const response = await fetch(...call)
      connections += 1
      let left = 400 * 4 ** connections
      const body = response.body?.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(bytes, controller) {
            controller.enqueue(bytes.subarray(0, left))
            left -= bytes.length
            if (left <= 0) controller.error(new Error('broken'))
          },
        }),
      )
      return new Response(response.status === 204 ? null : body, response)
    },
  })
  const told: StreamEvent[] = []
  const following = (async () => {
    for await (const event of cut.stream(id)) told.push(event)
  })()
  const stdout = 'ü'.repeat(70_000)
  setTimeout(() => void finish(sql, id, { stdout }), 300)
  await following
  t.ok(connections > 2, `${connections} connections`)
  t.equal(told[0]?.event, 'submitted')
  t.equal(told.at(-1)?.event, 'result')
  t.equal(new Set(told.map(({ position }) => position)).size, told.length)
  const outputs = told.flatMap((event) => (event.event === 'stdout' ? [event.data] : []))
  t.equal(outputs.map((data) => ('text' in data ? data.text : '')).join(''), stdout)
  t.equal(outputs.length, 3)
  const [first] = told
  const rest: StreamEvent[] = []
  for await (const event of client.stream(id, { lastEventId: first?.position ?? '' }))
    rest.push(event)
  t.strictSame(rest, told.slice(1))
  const last = told.at(-1)?.position ?? ''
  const answer = await client.stream(id, { lastEventId: last }).next()
  t.strictSame(answer, { value: undefined, done: true })
})

t.test('a stream ends with its signal', async (t) => {
  const { id } = await client.submit(python)
  const signal = AbortSignal.timeout(300)
  const ended = (async () => {
    for await (const { event } of client.stream(id, { signal })) t.not(event, 'result')
  })()
  await t.rejects(ended, { name: 'TimeoutError' })
  await finish(sql, id)
})

t.test('cancel resolves with the record as it stands, who waits with the end', async (t) => {
  const { id } = await client.submit(python)
  const waiting = client.wait(id)
  t.match(await client.cancel(id), { id, status: 'cancelled', verdict: null })
  t.match(await client.cancel(id), { id, status: 'cancelled' })
  t.match(await waiting, { id, status: 'cancelled' })
  await t.rejects(client.cancel('nothing'), { status: 404, code: 'not_found' })
})

t.test('rerun submits what has ended again, once under one key', async (t) => {
  const { id: first } = await client.submit(python)
  await t.rejects(client.rerun(first), { status: 409, code: 'not_final' })
  await finish(sql, first)
  const idempotencyKey = randomUUID()
  const { id } = await client.rerun(first, { idempotencyKey })
  t.strictSame(await client.rerun(first, { idempotencyKey }), { id })
  t.match(await client.read(id), { id, status: 'queued', rerun_of: first })
  await t.rejects(client.rerun('nothing'), { status: 404, code: 'not_found' })
})

t.test('run submits and waits', async (t) => {
  const running = client.run(python)
  let ids: string[] = []
  while (ids.length === 0) {
    ids = (
      await sql`
      select submission_id as id from runledger.pending where waiters is not null`
    ).map((row) => row['id'] as string)
  }
  for (const id of ids) await finish(sql, id)
  t.match(await running, { status: 'completed', verdict: 'AC' })
})

t.test('an aborted wait ends with the reason', async (t) => {
  const { id } = await client.submit(python)
  await t.rejects(client.wait(id, { signal: AbortSignal.timeout(500) }), { name: 'TimeoutError' })
})

t.test('runBatch gives each item as it ends, once, over connections that break', async (t) => {
  let lines = 0
  // A proxy that breaks off every answer after two more lines.
  const cut = createClient({
    url: `http://127.0.0.1:${server.port}`,
    apiKey: await server.issue(),
    async fetch(...request) {
      const answer = await fetch(...request)
      if (answer.body === null || answer.status !== 200) return answer
      const breaking = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          controller.enqueue(chunk)
          lines += 1
          if (lines % 2 === 0) controller.error(new Error('cut'))
        },
      })
      return new Response(answer.body.pipeThrough(breaking), answer)
    },
  })
  const requests = [
    python,
    { ...python, language: 'latin' },
    ...Array.from({ length: 6 }, () => python),
  ]
  const seen: number[] = []
  for await (const item of cut.runBatch(requests)) {
    seen.push(item.index)
    if ('error' in item) t.match(item, { index: 1, error: 'invalid_request' })
    else t.match(item, { status: 'completed', verdict: 'AC' })
    const [pending] =
      await sql`select submission_id as id from runledger.pending where api_key_id = (
      select api_key_id from runledger.pending order by submission_id desc limit 1) limit 1`
    if (pending !== undefined) await finish(sql, pending['id'] as string)
  }
  t.strictSame(new Set(seen), new Set([0, 1, 2, 3, 4, 5, 6, 7]))
  t.strictSame(await cut.runBatch([]).next(), { value: undefined, done: true })
  const many = cut.runBatch(Array.from({ length: 1001 }, () => python))
  t.match(await failureOf(many.next()), { status: 400, issues: [{ path: 'submissions' }] })
})

t.test('submitBatch returns an answer for each item', async (t) => {
  const answers = await client.submitBatch([python, { language: 'latin', code: '' }])
  t.match(answers, [{ id: String }, { error: 'invalid_request', issues: [{ path: 'language' }] }])
})

t.test('an idempotency key makes one submission', async (t) => {
  const idempotencyKey = randomUUID()
  const [first, second] = await Promise.all([
    client.submit(python, { idempotencyKey }),
    client.submit(python, { idempotencyKey }),
  ])
  t.equal(first.id, second.id)
})

t.test('a refusal is a RunledgerError with code and issues, and not tried again', async (t) => {
  const error = await failureOf(client.submit({ ...python, language: 'latin' }))
  t.ok(error instanceof RunledgerError)
  t.match(error, { status: 400, code: 'invalid_request', issues: [{ path: 'language' }] })
  t.match(await failureOf(client.read('x')), { status: 404, code: 'not_found' })
  const stranger = createClient({ url: `http://127.0.0.1:${server.port}`, apiKey: 'x' })
  t.match(await failureOf(stranger.submit(python)), { status: 401, code: 'unauthorized' })
})

t.test('429, 503 and a broken connection are tried again under the same key', async (t) => {
  const keys: unknown[] = []
  const failures = ['429', '503', 'broken']
  const flaky = createServer((request, response) => {
    keys.push(request.headers['idempotency-key'])
    request.resume()
    const failure = failures.shift()
    if (failure === 'broken') request.socket.destroy()
    else if (failure === undefined) response.writeHead(202).end('{"id":"x"}')
    else
      response.writeHead(Number(failure), { 'Retry-After': '1' }).end('{"error":"e","message":"m"}')
  })
  flaky.listen(0, '127.0.0.1')
  await once(flaky, 'listening')
  t.teardown(() => flaky.close())
  const { port } = flaky.address() as AddressInfo
  const start = performance.now()
  const patient = createClient({ url: `http://127.0.0.1:${port}`, apiKey: 'k' })
  t.equal((await patient.submit(python)).id, 'x')
  t.equal(keys.length, 4)
  t.equal(new Set(keys).size, 1)
  t.ok(performance.now() - start > 2000, 'Retry-After was honoured')
  failures.push('503', '503')
  const impatient = createClient({ url: `http://127.0.0.1:${port}`, apiKey: 'k', retries: 0 })
  t.match(await failureOf(impatient.submit(python)), { status: 503, retryAfterSeconds: 1 })
})

t.test('the key goes nowhere else: plain http to others and redirects are refused', async (t) => {
  for (const bad of [
    'http://example.com',
    'http://localhost.example.com',
    'ftp://x',
    'nonsense',
    'http://127.0.0.1.example.com',
  ]) {
    t.throws(() => createClient({ url: bad, apiKey: 'k' }), { message: /https/ }, bad)
  }
  let visited = false
  const elsewhere = createServer((_request, response) => {
    visited = true
    response.end('{}')
  })
  elsewhere.listen(0, '127.0.0.1')
  await once(elsewhere, 'listening')
  const redirecting = createServer((_request, response) => {
    response
      .writeHead(307, {
        Location: `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`,
      })
      .end()
  })
  redirecting.listen(0, '127.0.0.1')
  await once(redirecting, 'listening')
  t.teardown(() => void (elsewhere.close(), redirecting.close()))
  const { port } = redirecting.address() as AddressInfo
  const redirected = createClient({ url: `http://127.0.0.1:${port}`, apiKey: 'k' })
  t.match(await failureOf(redirected.read('x')), { status: 307 })
  t.equal(visited, false)
})

t.test('verifyWebhook takes what the published library signs, and nothing else', async (t) => {
  const payload = {
    type: 'submission.completed',
    timestamp: '2026-01-01T00:00:00Z',
    data: { id: 'ä' },
  }
  const body = JSON.stringify(payload)
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const sign = (at: Date): Record<string, string> => ({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
  })
  const headers = sign(new Date())
  t.match(await verifyWebhook({ headers, body, secret }), payload)
  t.match(
    await verifyWebhook({ headers: new Headers(headers), body: Buffer.from(body), secret }),
    payload,
  )
  const signature = headers['webhook-signature'] ?? ''
  t.match(
    await verifyWebhook({
      headers: { ...headers, 'webhook-signature': `v1,AAAA ${signature}` },
      body,
      secret,
    }),
    payload,
  )
  const bad = [
    { headers, body: `${body} `, secret },
    { headers, body, secret: 'whsec_AAAA' },
    { headers: { ...headers, 'webhook-id': 'msg_2' }, body, secret },
    { headers: { ...headers, 'webhook-signature': signature.replace('v1,', 'v2,') }, body, secret },
    { headers: { ...headers, 'webhook-signature': '' }, body, secret },
    { headers: {}, body, secret },
  ]
  for (const received of bad) t.equal(await verifyWebhook(received), null)

  const now = Math.floor(Date.now() / 1000)
  for (const seconds of [-301, -300, 300, 301]) {
    const signed = { headers: sign(new Date((now + seconds) * 1000)), body, secret, now }
    t.match(await verifyWebhook(signed), Math.abs(seconds) > 300 ? null : payload, `${seconds} s`)
  }
})
