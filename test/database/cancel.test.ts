// A withdrawn statement never reaches the server, and its pool is whole afterwards.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { cancelOnAbort, createDatabase } from '#database'
import { openTestDatabase } from '../helper/database.ts'
import { isAnyWaiting } from '../helper/lock.ts'
import { startTcpProxy } from '../helper/tcp-proxy.ts'
import { until } from '../helper/until.ts'

const { sql, url } = await openTestDatabase(t)
await sql`create table note (text text)`

t.test('neither one that waits in the queue nor one whose connection is being made', async (t) => {
  const proxy = await startTcpProxy(url)
  const pool = createDatabase({ url: proxy.url, connections: 2, name: 'cancel' })
  t.teardown(async () => {
    await pool.end({ timeout: 1 })
    await proxy.close()
  })
  proxy.freeze()
  const controller = new AbortController()
  const notes = Array.from({ length: 5 }, (_, n) =>
    cancelOnAbort(pool`insert into note values (${n})`, controller.signal).then(
      () => 'written',
      (error: unknown) => (error as { code: string }).code,
    ),
  )
  // Both connections are being made.
  await until(() => proxy.attempts >= 2)
  controller.abort()
  t.strictSame(await Promise.all(notes), Array(5).fill('57014'))
  await proxy.restore()
  // If one connection were lost, the other one would answer both statements one after the other.
  let answers: Promise<unknown> = Promise.resolve()
  await sql.begin(async (holder) => {
    await holder`lock table note`
    answers = Promise.all(Array.from({ length: 2 }, () => pool`select text from note`))
    const isBoth = async (): Promise<boolean> =>
      (await sql`select from pg_stat_activity where application_name = 'cancel' and wait_event_type = 'Lock'`).length === 2 // prettier-ignore
    await Promise.race([answers, until(isBoth)])
    t.ok(await isBoth())
  })
  t.same(await answers, [[], []])
})

t.test('one that was sent is left to the server', async (t) => {
  const controller = new AbortController()
  let answer: Promise<unknown> = Promise.resolve()
  await sql.begin(async (holder) => {
    await holder`lock table note`
    answer = cancelOnAbort(sql`select count(*)::int from note`, controller.signal).execute()
    await until(() => isAnyWaiting(sql, 'note'))
    controller.abort()
    await sleep(1000) // in which a cancellation would reach the server
  })
  t.match(await answer, [{ count: 0 }])
})
