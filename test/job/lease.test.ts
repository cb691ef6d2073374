// Other processes rely on what a worker's lease reports about it.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createLease } from '#lease'
import { createLog } from '#log'
import { openTestDatabase } from '../helper/database.ts'

const { sql, url } = await openTestDatabase(t)
const announcement = {
  slots: 2,
  languages: () => ({}),
  description: { version: 'test', isolation: {} },
  suspendedBecause: () => null,
  listPoolIds: () => [],
  onRenewed() {},
}

t.test('a language that is there while the worker registers is told of, too', async (t) => {
  const python = { version: 'Python 3.11.2' }
  let runs: object = { python }
  const lines: string[] = []
  const log = createLog('test', 'info', { write: (line) => lines.push(line) })
  const lease = createLease(url, 15, log)
  await lease.announce({
    ...announcement,
    languages() {
      const told = runs
      // Java is found right after this call.
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
    [{ msg: 'worker.languages', languages: ['python', 'java'] }],
  )
})

t.test(
  'a new id is in force when it is registered, with its commands, and not before',
  async (t) => {
    const lease = createLease(url, 120, createLog('test', 'silent'))
    await lease.announce(announcement)
    t.teardown(() => lease.stop())
    const id = lease.workerId
    await sql`update runledger.worker set wanted = 'paused', stopped_at = now() where id = ${id}`
    await sql.unsafe(`
    create function public.wait_for_test() returns trigger language plpgsql security definer as
      $$ begin perform pg_advisory_xact_lock_shared(42); return new; end $$;
    create trigger wait before insert on runledger.worker for each row execute function public.wait_for_test()`)
    const holder = await sql.reserve()
    await holder`select pg_advisory_lock(42)`
    lease.renew()
    const isHeld = async (): Promise<boolean> =>
      (await sql`select from pg_locks where locktype = 'advisory' and objid = 42 and not granted`)
        .length > 0
    while (!(await isHeld())) await sleep(20)
    t.equal(lease.workerId, id)
    await holder`select pg_advisory_unlock(42)`
    holder.release()
    while (lease.workerId === id) await sleep(20)
    t.match(await sql`select wanted from runledger.worker where id = ${lease.workerId}`, [
      { wanted: 'paused' },
    ])
  },
)
