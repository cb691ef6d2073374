// What a worker says of itself is what others go by.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { announceWorker } from '#job'
import { createLog } from '#log'
import { createTestDatabase } from '../helper/database.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
t.setTimeout(30_000)

t.test('a language that is there while the worker registers is told of, too', async (t) => {
  const python = { version: 'Python 3.11.2' }
  const steps = [{ python }, { python, java: python }, { python, java: python, cpp: python }]
  let asked = 0
  const lease = await announceWorker({
    url,
    slots: 2,
    // Another one is there as soon as this was asked.
    languages: () => steps[Math.min(asked++, steps.length - 1)]!,
    leaseSeconds: 15,
    queuePoolIds: () => [],
    log: createLog('test', 'silent'),
  })
  t.teardown(() => lease.stop())
  const read = async (): Promise<string[]> => {
    const [row] = await sql<{ names: string[] }[]>`
      select array(select jsonb_object_keys(languages) order by 1) as names
      from runledger.worker where id = ${lease.workerId}`
    return row!.names
  }
  while ((await read()).length < 3) await sleep(20)
  t.strictSame(await read(), ['cpp', 'java', 'python'])
})
