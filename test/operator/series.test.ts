// The points of the last hours are correct, and cost no more with a long or busy history.
import t from 'tap'
import { createDatabase } from '#database'
import type { Database } from '#database'
import type { Series } from '#operator'
import { readSeries } from '../../src/operator/series.ts'
import { openTestDatabase } from '../helper/database.ts'
import { finish } from '../helper/execution.ts'
import { addPast } from '../helper/history.ts'
import type { Past } from '../helper/history.ts'
import { countRowsRead } from '../helper/rows-read.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const { sql, url } = await openTestDatabase(t)
const session = createDatabase({ url, connections: 1, name: 'series', statementSeconds: 60 })
t.teardown(() => session.end())

const sum = ({ points }: Series, name: 'received' | 'ended' | 'failed'): number =>
  points.reduce((all, point) => all + point[name], 0)

/** Runs this in one transaction, in which no time passes: now() is its beginning. */
const atOnce = <T>(work: (session: Database) => Promise<T>) =>
  session.begin((transaction) => work(transaction as unknown as Database))

/** Returns past submissions of these ages, which all waited and ran equally long. */
const alike = (ages: readonly number[], begun: number, ended: number): readonly Past[] =>
  ages.map((age) => ({ age, begun, ended }))

t.test('of an empty service each point says nothing, and time has no gap', async (t) => {
  const { at, points, share, step_seconds: step } = await readSeries(sql)
  t.equal(share, 1)
  t.equal(points.length, 90)
  for (const [n, point] of points.entries()) {
    t.match(point, { received: 0, ended: 0, failed: 0, waiting: 0, waited_p95: null })
    const next = Date.parse(points[n + 1]?.at ?? at)
    t.ok(Math.abs(Date.parse(point.at) + point.seconds * 1000 - next) < 2)
    t.ok(n === 89 || point.seconds === step)
  }
})

t.test('what came, waited, ended and failed stands where it was', async (t) => {
  const caller = await createCaller(sql)
  const done = await submitNew(sql, caller, describeSubmission({ code: '' }))
  await finish(sql, done)
  await submitNew(sql, caller, describeSubmission({ code: '' }))
  const series = await atOnce(async (session) => {
    // Received twenty minutes ago; it waited for eight.
    await addPast(session, [
      { age: 1200, begun: 480, ended: 481 },
      { age: 2400, begun: 1, ended: 3, status: 'failed' },
      // Before the first point.
      { age: 4 * 3600, begun: 1, ended: 1 },
    ])
    return readSeries(session)
  })
  t.equal(sum(series, 'received'), 4)
  t.equal(sum(series, 'ended'), 3)
  t.equal(sum(series, 'failed'), 1)
  t.equal(series.points.at(-1)?.waiting, 1)
  const base = Date.parse(series.points[0]?.at ?? '')
  const at = (age: number): number =>
    Math.floor((Date.parse(series.at) - age * 1000 - base) / 120_000)
  const point = (age: number) => series.points[at(age)]
  t.match(point(1200), { received: 1, waiting: 1, waited_p95: 480 })
  for (let n = at(1200); n < at(1200 - 480); n += 1) t.equal(series.points[n]?.waiting, 1)
  t.match(point(1200 - 480), { waiting: 0 })
  t.match(point(1200 - 481), { ended: 1 })
  t.match(point(2397), { failed: 1 })
})

t.test('what has waited since before is told in all of them', async (t) => {
  const caller = await createCaller(sql)
  const id = await submitNew(sql, caller, describeSubmission({ code: '' }))
  const old = '00000000-0000-7000-8000-000000000001'
  const before = await readSeries(sql)
  await session.begin(async (transaction) => {
    await transaction`update runledger.pending set submission_id = ${old} where submission_id = ${id}`
  })
  const { points } = await readSeries(sql)
  t.equal(points[0]?.waiting, 1)
  t.equal(points.at(-1)?.waiting, before.points.at(-1)?.waiting)
  await session.begin(async (transaction) => {
    await transaction`update runledger.pending set submission_id = ${id} where submission_id = ${old}`
  })
})

t.test('of a busy service a share is looked at, and stands for all', async (t) => {
  // One submission every 0.4 s for three hours, and ten times as many for six minutes.
  const ages = Array.from({ length: 27_000 }, (_, n) => n * 0.4)
  const busy = Array.from({ length: 9000 }, (_, n) => 3600 + n * 0.04)
  await addPast(session, alike([...ages, ...busy], 2, 4))
  const exact = await readSeries(sql, 100_000)
  const estimate = await readSeries(sql, 3000)
  t.equal(exact.share, 1)
  t.ok(estimate.share < 0.2, `share ${estimate.share}`)
  t.ok(sum(exact, 'received') > 35_600)
  for (const name of ['received', 'ended'] as const) {
    const ratio = sum(estimate, name) / sum(exact, name)
    t.ok(ratio > 0.8 && ratio < 1.25, `${name}: ${ratio}`)
  }
  t.match(estimate.points[40], { waited_p95: 2 })
  const most = Math.max(...estimate.points.map(({ received, seconds }) => received / seconds))
  t.ok(most > 10 && most < 60, `${most} a second`)
})

t.test('a burst is counted as what it is while all is looked at', async (t) => {
  await atOnce(async (session) => {
    const before = sum(await readSeries(session, 100_000), 'received')
    await addPast(
      session,
      alike(
        Array.from({ length: 5000 }, (_, n) => 5000 + n * 0.0001),
        2,
        4,
      ),
    )
    t.equal(sum(await readSeries(session, 100_000), 'received'), before + 5000)
  })
})

/** Counts the records that are read for a series of about `most` records. */
const countRead = (most: number): Promise<number> =>
  countRowsRead(session, 'runledger.result', (reader) => readSeries(reader as Database, most))

t.test('it reads no more than it may, whatever happens and has happened', async (t) => {
  const most = 3000
  const add = async (count: number, age: (n: number) => number): Promise<void> => {
    await addPast(session, alike(Array.from({ length: count }, (_, n) => age(n)), 2, 4)) // prettier-ignore
    await session`analyze runledger.result`
  }
  const quiet = await countRead(most)
  t.ok(quiet >= most && quiet < 3 * most, `${quiet} rows`)
  // A burst within minutes, which the newest records do not show.
  await add(100_000, (n) => 7000 + n * 0.005)
  const burst = await countRead(most)
  t.ok(burst < 3 * most, `${burst} rows after a burst`)
  await add(30_000, (n) => 20_000 + n)
  const long = await countRead(most)
  t.ok(long < burst * 1.1, `${burst} rows, and ${long} of a longer history`)
  await add(50_000, (n) => n * 0.2)
  const busy = await countRead(most)
  t.ok(busy < 3 * most, `${busy} rows of a busy service`)
})
