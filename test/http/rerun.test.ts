// POST /api/result/{id}/rerun through the whole service: web process, worker, sandbox.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { setTier } from '#account'
import { finish, pretendWorker } from '../helper/execution.ts'
import { pathsOf, startFreshServer, startServer, untilAvailable } from '../helper/server.ts'
import type { Answer, Call } from '../helper/server.ts'
import { createCaller } from '../helper/submission.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { call, issue, sql, url } = await startFreshServer(t, { syncWaitSeconds: 300, atOnce: 20 })

const python = { language: 'python', code: 'print(input())', stdin: 'x' }
const submit = async (body: object = python, more: Call = {}): Promise<string> =>
  (await call('POST', '/api/submit', { body, ...more })).body.id
/** Submits, and ends the submission without a worker. */
async function submitEnded(body: object = python, more: Call = {}): Promise<string> {
  const id = await submit(body, more)
  await finish(sql, id)
  return id
}
const rerun = (id: string, more: Call = {}): Promise<Answer> =>
  call('POST', `/api/result/${id}/rerun`, more)
const read = async (id: string, more: Call = {}): Promise<Answer['body']> =>
  (await call('GET', `/api/result/${id}`, more)).body
const idempotent = (key: string): Call => ({ headers: { 'Idempotency-Key': key } })
const countReruns = async (id: string): Promise<number> =>
  (await sql<[{ count: number }]>`select count(*) from runledger.rerun where rerun_of = ${id}`)[0]
    .count

async function purge(id: string): Promise<void> {
  await sql`update runledger.result set finished_at = now() - interval '90 days' where id = ${id}`
  await sql`
    update runledger.delivery set state = 'delivered', secret = null where submission_id = ${id}`
  // Purges by hand, because retention does not look at ids of today.
  await sql`
    with gone as (delete from runledger.body where submission_id = ${id})
    select runledger.append_event(${id}, (select max(stream_version) + 1 from runledger.event where stream_id = ${id}), 'submission.purged', 1, '{"reason": "retention"}', '{}')`
  await sql`select runledger.refresh_submissions(array[${id}]::uuid[])`
}

t.test('it is a new submission with the same of everything but the webhook', async (t) => {
  const hook = { webhook_url: 'https://hook.example/', webhook_secret: 's' }
  const asked = { ...python, expected_stdout: 'x', args: ['-v'], tag: 'week 1', ...hook }
  const first = await submitEnded(asked)
  const { status, body, headers } = await rerun(first)
  t.equal(status, 202)
  t.strictSame(Object.keys(body), ['id'])
  t.equal(headers.location, `/api/result/${body.id}`)
  t.not(body.id, first)
  const record = await read(body.id)
  t.match(record, {
    status: 'queued',
    verdict: null,
    tag: 'week 1',
    rerun_of: first,
    webhook: null,
  })
  t.match(await read(first), { status: 'completed', rerun_of: null, webhook: { id: /./ } })
  const [one, other] = await sql`
    select code, stdin, expected_stdout, detail from runledger.body
    where submission_id in (${first}, ${body.id})`
  t.strictSame(one, other)
  t.not(one?.['detail'], null)
  const { events } = (await call('GET', `/api/result/${body.id}/events`)).body
  t.match(events, [{ type: 'submission.received', data: { rerun_of: first, webhook: null } }])
})

t.test('with wait=true the answer is the record of the new one, or 408', async (t) => {
  const first = await submitEnded()
  const waiting = call('POST', `/api/result/${first}/rerun?wait=true`)
  let id: string | undefined
  while (id === undefined) {
    const [row] =
      await sql`select submission_id as id from runledger.rerun where rerun_of = ${first}`
    id = row?.['id'] as string | undefined
  }
  await finish(sql, id, { stdout: 'again\n' })
  const { status, body } = await waiting
  t.equal(status, 200)
  t.match(body, { id, status: 'completed', verdict: 'AC', stdout: 'again\n', rerun_of: first })

  const headers = { Prefer: 'wait=0', 'Idempotency-Key': randomUUID() }
  const late = await call('POST', `/api/result/${first}/rerun?wait=true`, { headers })
  t.match(late, { status: 408, body: { error: 'timeout', id: String } })
  t.equal(late.headers.location, `/api/result/${late.body.id}`)
  await finish(sql, late.body.id)
  const replayed = await call('POST', `/api/result/${first}/rerun?wait=true`, { headers })
  t.match(replayed, { status: 202, body: { id: late.body.id, status: 'completed' } })
  t.equal(replayed.headers['idempotency-replayed'], 'true')
  const { body: refused } = await call('POST', `/api/result/${first}/rerun?wait=yes`)
  t.match(refused, { error: 'invalid_request', issues: [{ path: '?wait' }] })
})

t.test('a rerun of a rerun names the first', async (t) => {
  const first = await submitEnded()
  const second: string = (await rerun(first)).body.id
  await finish(sql, second)
  const third: string = (await rerun(second.toUpperCase())).body.id
  t.match(await read(third), { rerun_of: first })
  t.equal(await countReruns(first), 2)
  t.equal(await countReruns(second), 0)
})

t.test('what has not ended is 409, and nothing is written', async (t) => {
  const id = await submit()
  t.match(await rerun(id), { status: 409, body: { error: 'not_final', message: String } })
  t.equal(await countReruns(id), 0)
  await call('POST', `/api/result/${id}/cancel`)
  t.equal((await rerun(id)).status, 202, 'what was cancelled has ended')
})

t.test('what retention has removed is 410', async (t) => {
  const id = await submitEnded()
  const key = randomUUID()
  const again: string = (await rerun(id, idempotent(key))).body.id
  await purge(id)
  t.match(await rerun(id), { status: 410, body: { error: 'purged', message: String } })
  t.match(await rerun(id, idempotent(randomUUID())), { status: 410 })
  t.equal(await countReruns(id), 1)
  const replay = await rerun(id, idempotent(key))
  t.match(replay, { status: 202, body: { id: again, rerun_of: id } }, 'a replay is none')
  t.equal(replay.headers['idempotency-replayed'], 'true')
})

t.test('another account’s, an unknown and a malformed id cannot be told apart', async (t) => {
  const id = await submitEnded()
  const key = await issue()
  const answers = await Promise.all([id, randomUUID(), 'x'].map((each) => rerun(each, { key })))
  for (const { status, body } of answers) {
    t.equal(status, 404)
    t.strictSame(body, answers[0]?.body)
  }
  // The database does not treat the submission as this account's either.
  const { apiKeyId } = await createCaller(sql)
  const request = { submission_id: uuidv7(), api_key_id: apiKeyId, metadata: { actor: {} } }
  const stored = await sql`select * from runledger.rerun_submission(${id}, ${sql.json(request)})`
  t.equal(stored.length, 0)
  t.equal(await countReruns(id), 0)
})

t.test('the body is empty or {}, with no other parameter; all mistakes are told', async (t) => {
  const id = await submitEnded()
  t.equal((await rerun(id, { body: {} })).status, 202)
  for (const body of [{ code: '' }, [], 'null', '1', '{'])
    t.match(await rerun(id, { body }), { status: 400, body: { issues: [{ path: '' }] } })
  t.equal((await rerun(id, { body: '{}', headers: { 'Content-Type': 'text/plain' } })).status, 415)
  const wrong = await call('POST', `/api/result/${id}/rerun?now=true`, {
    ...idempotent('x'),
    body: [],
  })
  t.strictSame(pathsOf(wrong), ['?now', 'Idempotency-Key', ''])
  t.equal(await countReruns(id), 1)
})

t.test('forty at once under one Idempotency-Key make one', async (t) => {
  const id = await submitEnded()
  const key = randomUUID()
  let refused = 0
  const ask = async (): Promise<Answer> => {
    const answer = await rerun(id, idempotent(key))
    if (answer.status === 503) refused += 1
    return answer
  }
  const answers = await Promise.all(Array.from({ length: 40 }, () => untilAvailable(ask)))
  t.strictSame(new Set(answers.map(({ status }) => status)), new Set([202]))
  t.equal(new Set(answers.map(({ body }) => body.id)).size, 1)
  const first = answers.filter(
    ({ headers }) => headers['idempotency-replayed'] === undefined,
  ).length
  // A slow machine may answer 503 to the request that made it.
  t.ok(first === 1 || (first === 0 && refused > 0), `${first} first`)
  t.equal(await countReruns(id), 1)
  const other = await submitEnded()
  const mismatch = await rerun(other, idempotent(key.toUpperCase()))
  t.match(mismatch, { status: 202, body: { rerun_of: id } })
  t.equal(mismatch.headers['idempotency-mismatch'], 'true')
  t.equal(await countReruns(other), 0)
})

t.test('it has a place of the key that asks, and waits for one as any other does', async (t) => {
  const key = await issue('beta')
  const id = await submitEnded(python, { key })
  const ids: string[] = []
  for (let count = 0; count < 11; count += 1) ids.push((await rerun(id, { key })).body.id)
  const rows = await sql<{ admitted: boolean }[]>`
    select admitted from runledger.pending where submission_id = any (${ids}) order by submission_id`
  const admissions = rows.map(({ admitted }) => admitted)
  t.strictSame(admissions, [...Array.from({ length: 10 }, () => true), false])
  await finish(sql, ids[0] ?? '')
  const [last] =
    await sql`select admitted from runledger.pending where submission_id = ${ids[10] ?? ''}`
  t.equal(last?.['admitted'], true)
  for (const each of ids.slice(1)) await finish(sql, each)
})

t.test('the rate window and a revoked key refuse it', async (t) => {
  const spent = await createCaller(sql, 'beta')
  const id = await submitEnded(python, { key: spent.key })
  await sql`
    update runledger.rate_window set admitted_at = array_fill(now(), array[60]), requests = array_fill(1, array[60])
    where api_key_id = ${spent.apiKeyId}`
  t.match(await rerun(id, { key: spent.key }), { status: 429, headers: { 'retry-after': /\d/ } })
  await sql`update runledger.api_key set revoked_at = now() where id = ${spent.apiKeyId}`
  t.equal((await rerun(id, { key: spent.key })).status, 401)
  t.equal(await countReruns(id), 0)
})

t.test('a full queue is 503, and leaves nothing behind', async (t) => {
  const [{ pending }] = await sql<[{ pending: number }]>`
    select count(*) as pending from runledger.pending`
  const full = await startServer(t, sql, { url, queueCapacity: pending + 1 })
  const id: string = (await full.call('POST', '/api/submit', { body: python })).body.id
  await finish(sql, id)
  await submit()
  const answer = await full.call('POST', `/api/result/${id}/rerun`, idempotent(randomUUID()))
  t.match(answer, {
    status: 503,
    body: { error: 'queue_full' },
    headers: { 'retry-after': /^\d+$/ },
  })
  t.equal(await countReruns(id), 0)
})

t.test('limits are held against the tier as it is today', async (t) => {
  const tier = { name: 'wide' }
  await setTier(sql, { ...tier, limits: { cpu_time: 100, disk: 1e9 } }, 'test')
  const key = await issue('wide')
  const limits = { cpu_time: 90, disk: 9e8 }
  const id = await submitEnded({ ...python, limits }, { key })
  t.equal((await rerun(id, { key })).status, 202)
  await setTier(sql, { ...tier, limits: { cpu_time: 20, disk: 1e9 } }, 'test')
  const { status, body } = await rerun(id, { key })
  t.equal(status, 400)
  t.match(body.issues, [{ path: 'limits.cpu_time', message: /tier allows: 20$/ }])
  t.equal(body.issues.length, 1)
  t.equal(await countReruns(id), 1)
})

t.test('a language that is not offered any more is 400, with those that are', async (t) => {
  const code = 'int main() {}'
  const checker = { type: 'program', language: 'cpp', code }
  const own = await submitEnded({ language: 'cpp', code })
  const judged = await submit({ ...python, stdin: undefined, tests: [{ stdin: 'x' }], checker })
  await finish(sql, judged)
  await pretendWorker(sql, { python: { version: 'Python 3' } })
  // A new server reads the offered languages from the database.
  const later = await startServer(t, sql, { url })
  for (const [id, path] of [
    [own, 'language'],
    [judged, 'checker.language'],
  ] as const) {
    const key = (await sql`select api_key_id from runledger.submission where id = ${id}`)[0]?.[
      'api_key_id'
    ]
    t.ok(key)
    const caller = await createCaller(sql)
    await sql`
      update runledger.api_key set account_id = (select account_id from runledger.submission where id = ${id})
      where id = ${caller.apiKeyId}`
    const { status, body } = await later.call('POST', `/api/result/${id}/rerun`, {
      key: caller.key,
    })
    t.equal(status, 400)
    t.match(body.issues, [{ path, message: /offered are python$/ }])
    t.equal(await countReruns(id), 0)
  }
  await sql`delete from runledger.worker`
})

t.test('a worker runs it as it ran the first', async (t) => {
  await startWorkerProcess(t, url)
  const wait = async (id: string): Promise<Answer['body']> =>
    (await call('GET', `/api/result/${id}?wait=true`)).body
  const again = async (body: object): Promise<[Answer['body'], Answer['body']]> => {
    const first = (await call('POST', '/api/submit?wait=true', { body })).body
    return [first, await wait((await rerun(first.id)).body.id)]
  }
  /** Returns the record without its identity and its figures. */
  const told = (record: Answer['body']): object => {
    const { verdict, exit_code, stdout, stderr, compile_output, limit, difference, language, runtime, tag } = record // prettier-ignore
    const tests = record.tests?.map((test: Readonly<Record<string, unknown>>) => ({
      ...test,
      cpu_time: 0,
      wall_time: 0,
      memory_peak: 0,
    }))
    return { verdict, exit_code, stdout, stderr, compile_output, limit, difference, language, runtime, tag, tests } // prettier-ignore
  }
  const checker = {
    type: 'program',
    language: 'python',
    code: 'import sys\nfrom judge import fits\nsys.exit(0 if fits(open("output").read()) else 1)',
    files: [{ name: 'judge.py', content: 'def fits(text): return text == "2 a b\\n"' }],
  }
  const cases: [object, string][] = [
    [{ ...python, expected_stdout: 'x' }, 'AC'],
    [{ ...python, expected_stdout: 'y' }, 'WA'],
    [{ language: 'cpp', code: 'int main() { return x; }' }, 'CE'],
    [
      {
        language: 'python',
        code: 'import sys, more\nprint(more.twice(int(input())), *sys.argv[1:])',
        files: [{ name: 'more.py', content: 'def twice(n): return 2 * n' }],
        args: ['a', 'b'],
        limits: { cpu_time: 3, wall_time: 7 },
        tests: [{ name: 'one', stdin: '1' }, { name: 'two', stdin: '2' }, { stdin: '3' }],
        stop_on_failure: true,
        output_encoding: 'base64',
        checker,
      },
      'WA',
    ],
  ]
  for (const [body, verdict] of cases) {
    const [first, second] = await again(body)
    t.equal(first.verdict, verdict)
    t.strictSame(told(second), told(first), verdict)
    t.equal(second.rerun_of, first.id)
  }
})

t.test('every projection is as the log says', async (t) => {
  await sql`delete from runledger.delivery`
  for (const view of ['broken_chain', 'altered_body'])
    t.strictSame([...(await sql`select * from audit.${sql(view)}`)], [], view)
  t.strictSame([...(await sql`select * from audit.drift where projection <> 'delivery'`)], [])
})
