// A withdrawn statement never reaches the server, and its pool is whole afterwards.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { cancelOnAbort, createDatabase } from '#database'
import { openTestDatabase } from '../helper/database.ts'
import { startTcpProxy } from '../helper/tcp-proxy.ts'

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
  while (proxy.attempts < 2) await sleep(20)
  controller.abort()
  t.strictSame(await Promise.all(notes), Array(5).fill('57014'))
  await proxy.restore()
  // If one connection were lost, the other one would answer both statements. Each lasts until the slower one is there.
  const answers = await Promise.all(
    Array.from({ length: 2 }, () => pool`select pg_backend_pid() as pid, pg_sleep(3)`),
  )
  t.equal(new Set(answers.map(([row]) => row?.['pid'] as number)).size, 2)
  t.strictSame([...(await sql`select text from note`)], [])
})

t.test('one that was sent is left to the server', async (t) => {
  const observer = createDatabase({ url, connections: 1, name: 'observer' })
  t.teardown(() => observer.end({ timeout: 1 }))
  await observer`select 1` // connects before the test needs it
  const controller = new AbortController()
  const answer = cancelOnAbort(sql`select pg_sleep(3), 1 as one`, controller.signal)
  const answered = answer.then(([row]) => row?.['one'] as number)
  const isSent = async (): Promise<boolean> => {
    const [row] = await observer`
      select count(*) from pg_stat_activity where state = 'active' and query like 'select pg_sleep(3)%'`
    return row?.['count'] === 1
  }
  while (!(await isSent()));
  controller.abort()
  t.equal(await answered, 1)
})
