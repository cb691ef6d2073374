// At most ten programs of one key run at once, by the times in the log; and what that means for other keys.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startFreshServer } from '../helper/server.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { call, issue, sql, url } = await startFreshServer(t)
const firstUid = 200_000 + (process.pid % 500) * 32
// A sleeping program costs no CPU time, so many of them fit on any machine.
const sleeper = { language: 'python', code: 'import time\ntime.sleep(3)' }
const hello = { language: 'python', code: 'print("hello")' }

/** When an execution ran, according to the log. */
interface Span {
  readonly id: string
  readonly start: number
  readonly end: number
}

async function submitMany(key: string, body: object, count: number): Promise<string[]> {
  const answer = await call('POST', '/api/submit/batch', {
    key,
    body: { submissions: Array.from({ length: count }, () => body) },
  })
  t.equal(answer.status, 202)
  return answer.body.submissions.map(({ id }: { id: string }) => id)
}

/** Waits until all submissions have ended. @returns when each ran, in the order of their starts. */
async function readSpans(ids: readonly string[]): Promise<Span[]> {
  for (;;) {
    const rows = await sql`
      select
        submission_id as id,
        extract(epoch from started_at)::double precision as start,
        extract(epoch from ended_at)::double precision as end
      from audit.execution
      where submission_id = any(${ids as string[]}) and ended_by = 'execution.completed' and verdict = 'AC'
      order by started_at`
    if (rows.length === ids.length) return rows as never
    await sleep(200)
  }
}

/** Returns how many spans overlap at most at one instant. A span that starts when another ends does not overlap it. */
function countOverlap(spans: readonly Span[]): number {
  return Math.max(
    ...spans.map(
      ({ start }) => spans.filter((other) => other.start <= start && start < other.end).length,
    ),
  )
}

t.test('overlap is counted as it should be', async (t) => {
  const span = (start: number, end: number): Span => ({ id: '', start, end })
  t.equal(countOverlap([span(0, 1), span(1, 2)]), 1)
  t.equal(countOverlap([span(0, 3), span(1, 2), span(2, 4)]), 2)
  t.equal(countOverlap([span(0, 3), span(1, 3), span(2, 3)]), 3)
})

t.test('of thirty sleepers of one key never more than ten overlap', async (t) => {
  const [beta, other] = [await issue('beta'), await issue('beta')]
  const ids = [...(await submitMany(beta, sleeper, 15)), ...(await submitMany(beta, sleeper, 15))]
  const [waiting] = await sql`
    select count(*) as count from runledger.pending where not admitted and submission_id = any(${ids})`
  const late = await call('POST', '/api/submit', { key: other, body: hello })
  // Only now, because on a slow machine the sleepers could be over before the other key's submission comes.
  const worker = await startWorkerProcess(t, url, {
    SLOTS: '14',
    FIRST_UID: String(firstUid),
    PYTHON_RUN_WALL_SECONDS: '120',
  })
  const [lateSpan] = await readSpans([late.body.id])
  const spans = await readSpans(ids)

  t.equal(waiting?.['count'], 20, 'those beyond ten wait')
  const overlap = countOverlap(spans)
  t.ok(overlap <= 10, `${overlap} at once`)
  const eleventh = spans[10]
  const firstEnd = Math.min(...spans.map(({ end }) => end))
  t.ok((eleventh?.start ?? 0) >= firstEnd, 'the eleventh began after one of the ten had ended')
  t.ok(
    (lateSpan?.end ?? Infinity) < (spans.at(-1)?.start ?? 0),
    'another key did not wait for them',
  )
  t.strictSame(spans.map(({ id }) => id).toSorted(), ids.toSorted(), 'each ran once')
  worker.child.kill('SIGTERM')
  await worker.ended
})

t.test('a flood by one key delays another’s submission by its ten, not by all of it', async (t) => {
  const flood = await issue('beta')
  const ids: string[] = []
  for (let n = 0; n < 3; n += 1) ids.push(...(await submitMany(flood, hello, 20)))
  const others = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const { body } = await call('POST', '/api/submit', { key: await issue('beta'), body: hello })
      return body.id as string
    }),
  )
  // Only now, because a slow machine could run any number of the flood while it receives one of the others.
  await startWorkerProcess(t, url, { SLOTS: '2', FIRST_UID: String(firstUid + 16) })
  const own = await readSpans(others)
  const spans = await readSpans(ids)
  const received = await sql`
    select id, extract(epoch from created_at)::double precision as at from runledger.submission where id = any(${others})`
  for (const { id, start } of own) {
    const at = received.find((row) => row['id'] === id)?.['at'] as number
    const ahead = spans.filter((span) => span.start > at && span.start < start).length
    t.ok(ahead <= 10, `${ahead} of the flood began between its receipt and its start`)
  }
  // In the log a slot's next execution starts before the result of the last one is stored. Up to twice as many results as
  // slots may wait to be stored.
  t.ok(countOverlap([...spans, ...own]) <= 2 + 2 * 2, 'both slots are shared by all')
})
