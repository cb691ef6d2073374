// What 2,000 waiting requests cost the web process while nothing happens: no database connection each, and no timer that
// fires. The server runs in this process, so that its timers can be counted.
import { createHook } from 'node:async_hooks'
import { request } from 'node:http'
import type { ClientRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startFreshServer } from '../helper/server.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'
import { until } from '../helper/until.ts'

// Enabled before the server starts, because only `init` says that a resource is a timer.
const timers = new Set<number>()
let fired = 0
createHook({
  init: (id, type) => void (type === 'Timeout' && timers.add(id)),
  before: (id) => void (timers.has(id) && (fired += 1)),
}).enable()

const { port, waiter, sql } = await startFreshServer(t, { syncWaitSeconds: 600 })
const caller = await createCaller(sql)
const waiters = 2000

const ids = await Promise.all(
  Array.from({ length: 20 }, () => submitNew(sql, caller, describeSubmission({ code: '' }))),
)

const outgoing: ClientRequest[] = []

/** Sends the waiting request with this index. Repeats it when it is answered, because a slow machine may refuse it. */
function wait(place: number): void {
  const path = `/api/result/${ids[place % ids.length]}?wait=true`
  const headers = { 'X-API-Key': caller.key }
  const one = request({ host: '127.0.0.1', port, path, agent: false, headers })
  one.on('error', () => {})
  one.on('response', () => {
    one.destroy()
    wait(place)
  })
  one.end()
  outgoing[place] = one
}

const countTimers = (): number =>
  process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length

/** Counts the timers that fire in three quiet seconds, the timers that are set, and the web process's connections. */
async function observe(): Promise<{ fired: number; active: number; connections: number }> {
  const [before, startedAt] = [fired, performance.now()]
  await sleep(3000)
  // On a busy machine the sleep takes longer.
  const share = 3000 / (performance.now() - startedAt)
  const [row] = await sql`
    select count(*) as count from pg_stat_activity
    where datname = current_database() and application_name = 'test web'`
  return {
    fired: (fired - before) * share,
    active: countTimers(),
    connections: row?.['count'] as number,
  }
}

t.test('2,000 that wait cost no connection each and make no timer fire', async (t) => {
  const nobody = await observe()
  // In waves, because a slow machine would not accept all of them within the time that a request has.
  while (outgoing.length < waiters) {
    for (let n = 0; n < 50; n += 1) wait(outgoing.length)
    await until(() => waiter.waiting === outgoing.length)
  }
  const all = await observe()
  t.comment(JSON.stringify({ nobody, all }))
  t.ok(all.connections <= 11, `${all.connections} connections`)
  t.ok(all.fired < nobody.fired + 50, 'as many timers fire as with nobody')
  t.ok(all.active <= nobody.active + waiters + 50, 'each has one, for the end of its time')

  for (const one of outgoing) one.destroy()
  await until(() => waiter.waiting === 0)
  // A busy machine closes their connections later.
  await until(() => countTimers() < nobody.active + 50)
  const left = await observe()
  t.ok(left.active < nobody.active + 50, 'they leave no timer behind')
  t.ok(left.fired < nobody.fired + 50)
})
