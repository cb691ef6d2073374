// What a worker says of itself is what others go by.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createLease } from '#job'
import { createLog } from '#log'
import { createTestDatabase } from '../helper/database.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
t.setTimeout(30_000)

t.test('a language that is there while the worker registers is told of, too', async (t) => {
  const python = { version: 'Python 3.11.2' }
  let runs: object = { python }
  const lines: string[] = []
  const log = createLog('test', 'info', { write: (line) => lines.push(line) })
  const lease = createLease({ url, leaseSeconds: 15, log })
  await lease.announce({
    slots: 2,
    languages() {
      const told = runs
      // There as soon as this was asked.
      runs = { python, java: python }
      return told
    },
  })
  t.teardown(() => lease.stop())
  const read = async (): Promise<string[]> => {
    const [row] = await sql<{ names: string[] }[]>`
      select array(select jsonb_object_keys(languages) order by 1) as names
      from runledger.worker where id = ${lease.workerId}`
    return row!.names
  }
  while ((await read()).length < 2) await sleep(20)
  t.strictSame(await read(), ['java', 'python'])
  while (lines.length === 0) await sleep(20)
  t.match(
    lines.map((line) => JSON.parse(line) as object),
    [{ msg: 'worker.languages', languages: ['python', 'java'], added: ['java'], removed: [] }],
  )
})
