// A full queue's Retry-After is true. With a real worker that empties the queue, a caller that waits exactly that long is
// admitted, and the figure follows the rate at which programs end.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { secondsUntil } from '../helper/outage.ts'
import { startFreshServer, untilAvailable } from '../helper/server.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const capacity = 8
const { call, sql, url } = await startFreshServer(t, { queueCapacity: capacity })
await startWorkerProcess(t, url, { SLOTS: '1' })

/** Submits until the queue is full. @returns the Retry-After, and how many submissions were admitted before. */
async function fill(sleepSeconds: number): Promise<{ retryAfter: number; admitted: number }> {
  const body = { language: 'python', code: `import time; time.sleep(${sleepSeconds})` }
  for (let admitted = 0; ; admitted += 1) {
    const { status, headers } = await untilAvailable(() => call('POST', '/api/submit', { body }))
    if (status === 503) return { retryAfter: Number(headers['retry-after']), admitted }
    if (status !== 202) throw new Error(`answered ${status}`)
  }
}

const countEnds = async (): Promise<number> =>
  (await sql`select count(*) as count from runledger.event where type = 'execution.completed'`)[0]?.['count'] as number // prettier-ignore

/** Returns the mean seconds between two of the last ten ends. */
async function readInterval(): Promise<number> {
  const [row] = await sql`
    select extract(epoch from max(recorded_at) - min(recorded_at))::double precision / 9 as seconds
    from (
      select recorded_at from runledger.event where type = 'execution.completed' order by position desc limit 10
    ) ended`
  return row?.['seconds'] as number
}

const rounds = [
  { sleepSeconds: 0.2, tries: 8 },
  { sleepSeconds: 0.9, tries: 4 },
]
const figures: { retryAfter: number; interval: number }[] = []

for (const { sleepSeconds, tries } of rounds) {
  t.test(`programs of ${sleepSeconds} s: who waits so long is admitted`, async (t) => {
    // First ends enough programs of this length, because the rate is that of the last ten ends.
    const ends = (await countEnds()) + capacity + 11
    await secondsUntil(async () => {
      await fill(sleepSeconds)
      return (await countEnds()) >= ends
    })
    let inVain = 0
    for (let count = 0; count < tries; count += 1) {
      const { retryAfter, admitted } = await fill(sleepSeconds)
      if (count > 0 && admitted === 0) inVain += 1
      const interval = await readInterval()
      t.ok(
        retryAfter >= interval && retryAfter <= Math.ceil(3 * interval) + 2,
        `${retryAfter} s, with an end every ${interval.toFixed(2)} s`,
      )
      figures.push({ retryAfter, interval })
      await sleep(retryAfter * 1000)
    }
    // The coming rate depends on the machine, too, so some waits may be in vain.
    t.ok(inVain <= tries / 2, `${inVain} of ${tries} waits were in vain`)
  })
}

t.test('the slower the queue empties, the longer the wait', async (t) => {
  for (const quick of figures)
    for (const slow of figures)
      // Retry-After has whole seconds and the machine adds noise, so only intervals that differ several times are compared.
      if (slow.interval > 4 * quick.interval + 2)
        t.ok(slow.retryAfter > quick.retryAfter, JSON.stringify({ quick, slow }))
  t.pass()
})
