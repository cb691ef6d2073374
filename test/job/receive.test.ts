// Submissions that are received together: each is received, replayed or refused by itself, as it would be alone.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createDatabase } from '#database'
import { createReceive } from '#enqueue'
import type { Submission, SubmissionContext } from '#enqueue'
import { createId } from '#id'
import { openTestDatabase } from '../helper/database.ts'
import { findBroken } from '../helper/ledger.ts'
import { isAnyWaiting } from '../helper/lock.ts'
import { startStatementCounter } from '../helper/statement.ts'
import {
  createCaller,
  describeContext,
  describeSubmission,
  receiveOne,
  untilInTime,
} from '../helper/submission.ts'
import type { Receipt } from '../helper/submission.ts'

const { sql, url } = await openTestDatabase(t)
const counter = await startStatementCounter(url)
const web = createDatabase({
  url: counter.url,
  connections: 4,
  name: 'test web',
  statementSeconds: 2,
})
t.teardown(async () => {
  await web.end({ timeout: 1 })
  await counter.close()
})
const receive = createReceive(web)
const caller = await createCaller(sql)
const python = describeSubmission({
  code: 'print(1)',
  stdin: '\0',
  expectedStdout: Buffer.from('é'),
})

type Asked = Partial<SubmissionContext> & { readonly submission?: Submission }

function ask({ submission = python, ...context }: Asked): Promise<Receipt> {
  return receiveOne(receive, submission, { ...describeContext(caller), ...context })
}

async function receiveTogether(
  asked: readonly Asked[],
  { repeats = true } = {},
): Promise<PromiseSettledResult<Receipt>[]> {
  // Opens all connections first, so that their first statements are not counted.
  await Promise.all(Array.from({ length: 4 }, () => web`select pg_sleep(0.05)`))
  for (;;) {
    counter.take()
    const answers = await Promise.allSettled(asked.map(ask))
    // A call that took more than 1.5 s wrote nothing.
    if (!repeats || !answers.some((each) => kindOf(each) === '57014')) return answers
  }
}

const kindOf = (settled: PromiseSettledResult<Receipt>): string =>
  settled.status === 'fulfilled' ? settled.value.kind : String(settled.reason.code)
const several = (count: number, asked: Asked = {}): Asked[] =>
  Array.from({ length: count }, () => asked)

t.afterEach(async () => {
  t.strictSame(await findBroken(sql), [])
  t.strictSame([...(await sql`select * from audit.altered_body`)], [])
})

t.test(
  'sixteen at once share statements and commits, and each stands in the log as if it were alone',
  async (t) => {
    const requests = Array.from({ length: 16 }, () => uuidv7())
    const answers = await receiveTogether(requests.map((requestId) => ({ requestId })))
    t.equal(counter.takeCalls('receive'), 1)
    const ids = answers.map((each) =>
      each.status === 'fulfilled' && 'id' in each.value ? each.value.id : '',
    )
    const rows = await sql`
    select e.metadata ->> 'request' as request, e.transaction_id::text as transaction, b.code, b.stdin, b.expected_stdout, j.id
    from unnest(${ids}::uuid[]) with ordinality asked (id, n)
    join runledger.event e on e.stream_id = asked.id and e.stream_version = 1
    join runledger.body b on b.submission_id = asked.id
    join runledger.pending p on p.submission_id = asked.id and p.admitted
    join graphile_worker.jobs j on j.key = asked.id::text
    order by n`
    t.strictSame(
      rows.map((row) => row['request'] as string),
      requests,
    )
    t.ok(new Set(rows.map((row) => row['transaction'] as string)).size < 8)
    for (const row of rows) {
      t.equal(String(row['code']), 'print(1)')
      t.equal(String(row['stdin']), '\0')
      t.equal(String(row['expected_stdout']), 'é')
    }
  },
)

t.test('the queue takes as many as it has room for, and refuses the others', async (t) => {
  const count = async (): Promise<number> => (await sql`select from runledger.pending`).length
  // The account may fill the whole queue.
  await sql`update runledger.tier set weight = 1000`
  const before = await count()
  const answers = await receiveTogether(several(16, { capacity: before + 10 }))
  await sql`update runledger.tier set weight = 1`
  const received = (await count()) - before
  // If the first statement is slow, the statements after it do not count its submission.
  t.ok(received === 10 || received === 11, `${received} of 10`)
  t.strictSame(answers.map(kindOf).toSorted(), [
    ...Array(16 - received).fill('queue_full'),
    ...Array(received).fill('received'),
  ])
  t.equal(counter.takeCalls('receive'), 1)
})

t.test('an idempotency key that comes twice is one submission', async (t) => {
  const idempotencyKey = uuidv7()
  const other = describeSubmission({ code: 'other' })
  const answers = await receiveTogether([
    ...several(4),
    { idempotencyKey },
    { idempotencyKey },
    ...several(4),
    { idempotencyKey, submission: other },
    { idempotencyKey: uuidv7() },
  ])
  t.strictSame(answers.map(kindOf), [
    ...Array(5).fill('received'),
    'replayed',
    ...Array(4).fill('received'),
    'replayed',
    'received',
  ])
  const [first, same, different] = [4, 5, 10].map((n) => answers[n])
  const id = first?.status === 'fulfilled' && first.value.kind === 'received' ? first.value.id : ''
  t.match(same, { value: { id, matches: true } })
  t.match(different, { value: { id, matches: false } })
})

t.test('what is refused leaves its idempotency key free', async (t) => {
  const again = { idempotencyKey: uuidv7() }
  const full = { ...again, capacity: 0 }
  const refused = await receiveTogether([full, full])
  t.strictSame(refused.map(kindOf), ['queue_full', 'queue_full'])
  const answers = await receiveTogether([again, again])
  t.strictSame(answers.map(kindOf), ['received', 'replayed'])
})

t.test('a key that was revoked meanwhile is refused alone', async (t) => {
  const revoked = await createCaller(sql)
  await sql`update runledger.api_key set revoked_at = now() where id = ${revoked.apiKeyId}`
  const { apiKeyId, accountId } = revoked
  const answers = await receiveTogether([
    ...several(7),
    { apiKeyId, accountId },
    { apiKeyId: uuidv7() },
    ...several(8),
  ])
  t.strictSame(answers.map(kindOf), [
    ...Array(7).fill('received'),
    'key_refused',
    'key_refused',
    ...Array(8).fill('received'),
  ])
  t.equal(counter.takeCalls('receive'), 1)
})

t.test('what PostgreSQL cannot read fails alone', async (t) => {
  const answers = await receiveTogether([
    ...several(5),
    // jsonb cannot hold NUL, so the statement fails before it writes anything.
    { submission: { ...python, tag: '\0' } },
    ...several(5),
  ])
  t.strictSame(answers.map(kindOf), [
    ...Array(5).fill('received'),
    '22P05',
    ...Array(5).fill('received'),
  ])
})

t.test('a statement that waits for a key keeps nobody who comes after it', async (t) => {
  const { apiKeyId, accountId } = await createCaller(sql, 'beta')
  let isSettled = false
  let blocked: Promise<Receipt> | undefined
  await sql.begin(async (transaction) => {
    await transaction`select from runledger.api_key where id = ${apiKeyId} for update`
    blocked = untilInTime(() => ask({ apiKeyId, accountId })).finally(() => (isSettled = true))
    while (!(await isAnyWaiting(sql)));
    const others = Array.from({ length: 8 }, () => ask({}))
    for (const { kind } of await Promise.all(others)) t.equal(kind, 'received')
    t.notOk(isSettled)
  })
  t.match(await blocked, { kind: 'received' })
})

t.test('a key runs no more at once than it may', async (t) => {
  const { apiKeyId, accountId } = await createCaller(sql, 'beta')
  const answers = await receiveTogether([{}, ...several(20, { apiKeyId, accountId })])
  t.ok(answers.every((each) => kindOf(each) === 'received'))
  const [row] = await sql`
    select count(*) filter (where p.admitted)::integer as admitted, min(tier.concurrent_executions) as most
    from runledger.pending p join runledger.api_key k on k.id = p.api_key_id join runledger.tier on tier.name = k.tier
    where k.id = ${apiKeyId}`
  t.equal(row?.['admitted'], row?.['most'])
})

t.test('what comes after its caller was answered 503 is not stored', async (t) => {
  const id = createId()
  let received: Promise<unknown> = Promise.resolve()
  await sql.begin(async (transaction) => {
    await transaction`lock table runledger.pending in share mode`
    received = receiveOne(createReceive(sql), python, describeContext(caller), id)
    received.catch(() => {})
    while (!(await isAnyWaiting(sql, 'runledger.pending')));
    await transaction`select pg_sleep(1.6)`
  })
  await t.rejects(received, { code: '57014', message: 'too late' })
  const stored = await sql`select from runledger.event where stream_id = ${id}`
  t.equal(stored.length, 0)
})

t.test('what took too long together is tried by none alone', async (t) => {
  await sql.unsafe(`
    create function public.wait() returns trigger language plpgsql as
      'begin perform pg_sleep(1.6); return null; end';
    create trigger wait before insert on runledger.pending for each statement execute function public.wait()`)
  const answers = await receiveTogether(several(3), { repeats: false })
  await sql.unsafe('drop trigger wait on runledger.pending')
  t.strictSame(answers.map(kindOf), ['57014', '57014', '57014'])
  t.equal(counter.takeCalls('receive'), 1)
})
