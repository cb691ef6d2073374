// Backpressure: a full queue refuses quickly and truthfully. A refused request leaves nothing behind.
import t from 'tap'
import { retryAfterSeconds } from '../../src/http/receive.ts'
import { finish, listPending } from '../helper/execution.ts'
import { startFreshServer, startServer, untilAvailable } from '../helper/server.ts'

const capacity = 5
const { call, sql, url } = await startFreshServer(t, { queueCapacity: capacity, atOnce: 12 })
const python = { language: 'python', code: '' }

t.test('one more than the capacity is 503 with Retry-After, and leaves nothing', async (t) => {
  const ids: string[] = []
  for (let n = 0; n < capacity; n += 1) {
    ids.push((await call('POST', '/api/submit', { body: python })).body.id)
  }
  const refusals = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      call('POST', n % 2 === 0 ? '/api/submit' : '/api/submit?wait=true', { body: python }),
    ),
  )
  for (const { status, body, headers } of refusals) {
    t.equal(status, 503)
    t.equal(body.error, 'queue_full')
    t.equal(headers['retry-after'], '60', 'nothing has ended yet')
  }
  for (const table of ['event', 'submission', 'body', 'pending'] as const) {
    const [row] =
      table === 'event'
        ? await sql`select count(*) as count from runledger.event where type = 'submission.received'`
        : await sql`select count(*) as count from runledger.${sql.unsafe(table)}`
    t.equal(row?.['count'], capacity, table)
  }
  await finish(sql, ids[0] ?? '')
  t.equal(
    (await call('POST', '/api/submit', { body: python })).status,
    202,
    'a place is free again',
  )
  t.equal((await call('POST', '/api/submit', { body: python })).status, 503)
})

t.test('a rush passes the capacity by no more than the database connections', async (t) => {
  await sql`select runledger.sweep_workers()`
  for (const id of await listPending(sql)) await finish(sql, id)
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => call('POST', '/api/submit', { body: python })),
  )
  const received = answers.filter(({ status }) => status === 202).length
  t.ok(received >= capacity && received <= capacity + 10, `${received} received`)
})

t.test('batches that come at once are too many by no more than a connection each', async (t) => {
  await sql`delete from runledger.pending`
  const { call } = await startServer(t, sql, { url, queueCapacity: 100, atOnce: 12 })
  const submissions = Array.from({ length: 20 }, () => python)
  const statuses = await Promise.all(
    Array.from({ length: 12 }, async () => {
      return (await untilAvailable(() => call('POST', '/api/submit/batch', { body: { submissions } }))).status // prettier-ignore
    }),
  )
  t.strictSame(
    statuses.toSorted((a, b) => a - b),
    [...Array(5).fill(202), ...Array(7).fill(503)],
  )
  const small = await startServer(t, sql, { url, queueCapacity: 7 })
  const answer = await small.call('POST', '/api/submit/batch', { body: { submissions } })
  t.equal(answer.status, 400, 'more than the queue holds would be refused for ever')
  t.match(answer.body.issues, [{ message: 'must hold 1 to 7 submissions' }])
  await sql`delete from runledger.pending`
})

t.test('a full queue takes a fiftieth of its capacity of each other account', async (t) => {
  const { call, issue } = await startServer(t, sql, { url, queueCapacity: 100, atOnce: 12 })
  const ask = async (key?: string, count = 1): Promise<number> => {
    const submissions = Array.from({ length: count }, () => python)
    const answer =
      count === 1
        ? await call('POST', '/api/submit', { body: python, ...(key && { key }) })
        : await call('POST', '/api/submit/batch', { body: { submissions }, ...(key && { key }) })
    return answer.status
  }
  for (let n = 0; n < 5; n += 1) t.equal(await ask(undefined, 20), 202)
  t.equal(await ask(), 503, 'whose own programs fill it')

  const other = await issue()
  t.equal(await ask(other, 3), 503, 'a batch that is more than that')
  t.strictSame([await ask(other), await ask(other), await ask(other)], [202, 202, 503])
  t.equal(await ask(await issue(), 2), 202, 'a batch that is not')

  const many = await Promise.all(Array.from({ length: 10 }, () => issue()))
  for (const key of many) t.strictSame([await ask(key), await ask(key)], [202, 202])
  const late = await issue()
  t.strictSame([await ask(late), await ask(late)], [202, 503], 'all of them a quarter')
  await sql`delete from runledger.pending`
})

t.test('far from the end nothing is counted while numbers are fewer than places', async (t) => {
  const session = await sql.reserve()
  const hasRoom = async (): Promise<unknown> =>
    (await session`select runledger.has_room(1, 1000) as has`)[0]?.['has']
  const take = (numbers: number) =>
    session`select nextval('runledger.event_position') from generate_series(1, ${numbers})`
  t.equal(await hasRoom(), true)
  await sql`
    insert into runledger.pending (submission_id, account_id, api_key_id, admitted, language, version, hash, created_at)
    select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), false, 'python', 1, '', now() from generate_series(1, 1000)`
  await take(500)
  t.equal(await hasRoom(), true, 'there cannot be so many, as none was received')
  await take(500)
  t.equal(await hasRoom(), false)
  await sql`delete from runledger.pending where not admitted`
  t.equal(await hasRoom(), true)
  session.release()
})

t.test('Retry-After is three times the mean of the time between two ends', async (t) => {
  t.equal(retryAfterSeconds(0), 60)
  t.equal(retryAfterSeconds(0.05), 60)
  t.equal(retryAfterSeconds(0.2), 15)
  t.equal(retryAfterSeconds(2), 2)
  t.equal(retryAfterSeconds(100), 1)
  t.equal(retryAfterSeconds(2, 20), 11, 'a batch needs a place for each')
  t.equal(retryAfterSeconds(0.2, 20), 60)
})

t.test('the rate is of the last ten ends, since the first of them', async (t) => {
  // In one transaction, so that now() stays the same.
  await sql.begin(async (sql) => {
    const estimate = async (): Promise<number> => {
      const [row] = await sql`select runledger.estimate_drain() as per_second`
      return row?.['per_second'] as number
    }
    /** Records ends of executions that lie this many seconds back. */
    const end = async (...secondsAgo: number[]): Promise<void> => {
      await sql`
      insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, hash, recorded_at)
      select gen_random_uuid(), 1, 'execution.abandoned', 1, '{}', '{}', '', now() - make_interval(secs => seconds)
      from unnest(${secondsAgo}::double precision[]) seconds`
    }
    await sql`alter table runledger.event disable trigger user`
    await sql`delete from runledger.event`
    t.equal(await estimate(), 0, 'nothing ended')
    await end(100, 20)
    t.equal(await estimate(), 0, 'one end says no rate')
    await end(10)
    t.ok(
      Math.abs((await estimate()) - 1 / 20) < 0.005,
      'two ends do, however long nothing ended before',
    )
    await end(5, 5, 5, 4, 4, 4, 3, 3, 2, 1)
    t.ok(Math.abs((await estimate()) - 9 / 5) < 0.2, 'what was longer ago does not count')
  })
})
