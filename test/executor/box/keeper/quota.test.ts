// A box that owes CPU time dies at once. Since Linux 6.18 a process that works inside the kernel exceeds its group's quota,
// and the group stands still until the excess is repaid. A tiny quota stands for such a debt here.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { KeeperGroup } from '../../../../src/executor/cgroup/cgroup.ts'
import { request, startLoneKeeper } from './lone-keeper.ts'

/** Returns the directory of the quota for a keeper and its boxes, if the host can limit cores. */
function findDirectory({ version, entrances }: KeeperGroup): string | undefined {
  // On v2 the keeper is in a leaf of its group.
  return entrances
    .map((path) => (version === 'v2' ? dirname(dirname(path)) : dirname(path)))
    .find((path) => existsSync(`${path}/cpu.cfs_quota_us`) || existsSync(`${path}/cpu.max`))
}

/** Allows a group a millisecond of CPU time in a second. */
function starve(directory: string): void {
  if (existsSync(`${directory}/cpu.max`)) {
    writeFileSync(`${directory}/cpu.max`, '1000 1000000')
  } else {
    writeFileSync(`${directory}/cpu.cfs_quota_us`, '1000')
    writeFileSync(`${directory}/cpu.cfs_period_us`, '1000000')
  }
}

function hasQuota(directory: string): boolean {
  const file = ['cpu.max', 'cpu.cfs_quota_us'].find((name) => existsSync(`${directory}/${name}`))
  return Number.parseInt(readFileSync(`${directory}/${file}`, 'utf8'), 10) > 0
}

const busy = [
  '/usr/bin/python3',
  '-S',
  '-c',
  'import os\nfor _ in range(3): os.fork()\nwhile True: pass',
]

async function check(t: Test, stop: AbortSignal | undefined): Promise<void> {
  const { keeper, group } = await startLoneKeeper(t)
  const directory = findDirectory(group)
  if (directory === undefined) return
  const running = keeper.run({ ...request(busy, { wallSeconds: 2 }), ...(stop && { stop }) })
  starve(directory)
  const { reason } = await running
  t.equal(reason, stop ? 'cancelled' : 'wall_limit')
  t.equal(hasQuota(directory), false, 'it had all cores to die')
  t.equal((await keeper.run(request(['/bin/true']))).reason, null, 'and its keeper goes on')
}

t.test('at its wall limit', (t) => check(t, undefined))
t.test('when it is cancelled', (t) => check(t, AbortSignal.timeout(500)))
