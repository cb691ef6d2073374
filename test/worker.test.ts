// Worker processes as an operator starts them: several on one host.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { listWorkers } from '#operator'
import metadata from '#package' with { type: 'json' }
import { openTestDatabase } from './helper/database.ts'
import { startWorkerProcess } from './helper/worker.ts'

/** Returns the real uids of a process's descendants, which include the keepers of slots. */
function uidsBelow(pid: number): Set<number> {
  const found = new Set<number>()
  for (const child of childrenOf(pid)) {
    const uid = /^Uid:\t(\d+)/m.exec(read(`/proc/${child}/status`))?.[1]
    if (uid !== undefined) found.add(Number(uid))
    for (const below of uidsBelow(child)) found.add(below)
  }
  return found
}

function childrenOf(pid: number): number[] {
  return read(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean).map(Number)
}

/** Returns a file's text; '' for a process that has ended meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

t.test('two workers that were told the same FIRST_UID share no uid', async (t) => {
  const { url } = await openTestDatabase(t)
  const first = 300_000 + (process.pid % 1000) * 100
  const environment = { FIRST_UID: String(first), SLOTS: '2' }
  const one = await startWorkerProcess(t, url, environment)
  const other = await startWorkerProcess(t, url, environment)
  t.ok(other.logged.includes('worker.uids_moved'), 'the second says that it took others')
  t.notOk(one.logged.includes('worker.uids_moved'))
  const [mine, others] = [uidsBelow(one.child.pid!), uidsBelow(other.child.pid!)]
  const slots = (uids: Set<number>): number[] => [...uids].filter((uid) => uid >= first)
  t.ok(slots(mine).every((uid) => uid < first + 4) && slots(mine).length > 0, 'its own range')
  t.ok(slots(others).every((uid) => uid >= first + 4) && slots(others).length > 0, 'the next range')
})

t.test('a worker that has nothing to do tells what it is', async (t) => {
  const { sql, url } = await openTestDatabase(t)
  const { child } = await startWorkerProcess(t, url, { SLOTS: '2' })
  t.match(await listWorkers(sql), [
    { pid: child.pid, state: 'working', slots: 2, busy: 0, box: 'keeper' },
  ])
  const [shown] = await listWorkers(sql)
  t.match(shown, { version: metadata.version, cgroup: /^v[12]$/, languages: /Python 3\./ })
})
