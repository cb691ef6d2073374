// Cgroups on this machine's own kernel: limits that are not available, what is left behind, whose groups are swept.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { dirname } from 'node:path'
import t from 'tap'
import {
  openCgroupParent,
  readHierarchies,
  readPids,
  shareCores,
} from '../../../src/executor/cgroup/cgroup.ts'
import type { KeeperGroup } from '../../../src/executor/cgroup/cgroup.ts'
import { findVersionOne } from '../../../src/executor/cgroup/group-v1.ts'
import {
  isAbandoned,
  keeperLimits,
  nameWorkerGroup,
} from '../../../src/executor/cgroup/worker-group.ts'
import { failsAt, findBoxProcesses, run, startExecutor } from '../../helper/executor.ts'
import { until } from '../../helper/until.ts'
import { openKeeperBoxes, slot } from '../box/keeper/lone-keeper.ts'

const parent = await openCgroupParent(nameWorkerGroup())
t.teardown(() => parent.close())

const groupPaths = (group: KeeperGroup): string[] => group.entrances.map((file) => dirname(file))
/**
 * The groups that limit a keeper. A group that the keeper enters by the name `keeper`, such as the CPU's on v1, has its
 * limits above.
 */
const topPaths = (group: KeeperGroup): string[] =>
  groupPaths(group).map((path) => (path.endsWith('/keeper') ? dirname(path) : path))

/** Reads a number from the groups that limit a keeper; undefined where there is no such file. */
const readAbove = (group: KeeperGroup, name: string): number | undefined =>
  topPaths(group)
    .map((path) => `${path}/${name}`)
    .filter((path) => existsSync(path))
    .map((path) => Number(readFileSync(path, 'utf8')))[0]

async function makeGroup(name: string): Promise<KeeperGroup> {
  const group = await parent.createForKeeper(name, null)
  group.closeDescriptors()
  return group
}

t.test('a slot has its share of the cores, and one at least', async (t) => {
  const shares = [shareCores(2, 2), shareCores(2, 8), shareCores(4, 2), shareCores(1, 1)]
  t.strictSame(shares, [1, 4, 1, 1])
})

t.test("all boxes together leave an eighth of the host's memory and process ids", async (t) => {
  const group = await makeGroup('bounded')
  t.teardown(() => group.remove())
  const memory = readAbove(group, '../memory.max') ?? readAbove(group, '../memory.limit_in_bytes')
  t.ok(Math.abs(memory! / totalmem() - 7 / 8) < 0.01, `${memory}`)
  const processes = readAbove(group, '../pids.max')
  const all = Number(readFileSync('/proc/sys/kernel/pid_max', 'utf8'))
  t.ok(processes! <= all - all / 8, `${processes}`)
})

t.test('a group of one core', async (t) => {
  const group = await makeGroup('one-core')
  t.teardown(() => group.remove())
  const readQuota = (): number | undefined =>
    group.entrances
      .flatMap((path) => [`${dirname(path)}/cpu.cfs_quota_us`, `${dirname(dirname(path))}/cpu.max`])
      .filter((path) => existsSync(path))
      .map((path) => Number.parseInt(readFileSync(path, 'utf8'), 10) / 10_000)[0]
  if (readQuota() === undefined) return
  t.equal(readQuota(), 1, 'uses no more')
  const all = availableParallelism()
  const little = { memoryBytes: 1, processes: 1 }
  t.equal(group.allow({ cores: all + 1, ...little }), all)
  t.equal(readQuota(), all, 'may be given all of them')
  t.equal(group.allow(little), 1)
  t.equal(readQuota(), 1, 'and has its share again')
  group.liftQuota()
  t.notOk((readQuota() ?? 0) > 0, 'and may have no limit while its box dies')
  group.allow(little)
  t.equal(readQuota(), 1, 'but the next box has one')
})

t.test(
  'a keeper has limits above those that it sets, for itself and its largest box',
  async (t) => {
    const group = await makeGroup('limited')
    const { memoryBytes, processes } = keeperLimits
    const holds = (moreBytes: number, moreProcesses: number): void => {
      const memory = readAbove(group, 'memory.max') ?? readAbove(group, 'memory.limit_in_bytes')
      t.equal(memory, memoryBytes + moreBytes)
      t.equal(readAbove(group, 'pids.max'), processes + moreProcesses)
      const swap = readAbove(group, 'memory.swap.max')
      const together = readAbove(group, 'memory.memsw.limit_in_bytes')
      if (together !== undefined) t.equal(together, memory, 'swap is none')
      if (swap !== undefined) t.equal(swap, 0, 'swap is none')
    }
    holds(0, 0)
    group.allow({ memoryBytes: 1 << 30, processes: 10 })
    holds(1 << 30, 10)
    group.allow({ memoryBytes: 1 << 20, processes: 100 })
    holds(1 << 30, 100)
    await group.remove()
  },
)

t.test('a group that is there already is an error', async (t) => {
  const group = await makeGroup('twice')
  await t.rejects(parent.createForKeeper('twice', null), failsAt('cgroup.create'))
  await group.remove().catch(() => {})
  t.same(
    groupPaths(group).filter((path) => existsSync(path)),
    [],
  )
})

t.test('a group that cannot be entered runs nothing', async (t) => {
  const made: string[] = []
  const opened = openKeeperBoxes(t, {
    slots: [slot],
    async createForKeeper(usual, name, uid) {
      const group = await usual(name, uid)
      made.push(...topPaths(group))
      return { ...group, entrances: ['/proc/none/cgroup.procs'] }
    },
  })
  await t.rejects(opened, failsAt('keeper.start', /\/proc\/none/))
  t.same(
    made.filter((path) => existsSync(path)),
    [],
  )
  t.same(findBoxProcesses(), [])
})

t.test("a group's counters are those of its processes", async (t) => {
  const group = await makeGroup('measured')
  const busy = spawn('/bin/sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' })
  await once(busy, 'spawn')
  for (const entrance of group.entrances) writeFileSync(entrance, String(busy.pid))
  await until(() => group.readCounters().cpuSeconds >= 0.1)
  // The pages that the process had before are charged to another group.
  t.ok(group.readCounters().memoryBytes >= 0)
  await group.remove()
  t.throws(() => group.readCounters())
})

t.test('groups of a dead worker are swept, with their processes', async (t) => {
  // A stand-in worker lives until there is a process in its group, because everything that makes groups sweeps those of dead
  // workers, other test files included.
  const [worker, sleeper] = [spawn('/bin/sleep', ['60']), spawn('/bin/sleep', ['60'])]
  await Promise.all([once(worker, 'spawn'), once(sleeper, 'spawn')])
  const [prefix, namespace] = nameWorkerGroup().split('-')
  const startTicks = readFileSync(`/proc/${worker.pid}/stat`, 'utf8').split(' ')[21]
  const name = [prefix, namespace, worker.pid, startTicks, 1].join('-')
  const group = await (await openCgroupParent(name)).createForKeeper('left', null)
  group.closeDescriptors()
  for (const entrance of group.entrances) writeFileSync(entrance, String(sleeper.pid))
  t.ok(groupPaths(group).every((path) => readPids(path).includes(sleeper.pid!)))
  const ended = once(sleeper, 'exit')
  worker.kill('SIGKILL')
  await once(worker, 'exit')
  const living = await openCgroupParent(nameWorkerGroup())
  // Another test file's worker may sweep at the same time.
  t.strictSame(await ended, [null, 'SIGKILL'])
  await until(() => !topPaths(group).some((path) => existsSync(dirname(path))))
  await living.close()
})

t.test('processes that fork without end are ended with their group', async (t) => {
  const group = await makeGroup('forking')
  const program = 'import os\nwhile True:\n try: os.fork()\n except OSError: pass'
  const enter = 'for entrance; do echo 0 >"$entrance"; done; exec /usr/bin/python3 -c "$PROGRAM"'
  const bomb = spawn('/bin/sh', ['-c', enter, 'sh', ...group.entrances], {
    env: { PROGRAM: program },
    stdio: 'ignore',
  })
  t.teardown(() => bomb.kill('SIGKILL'))
  const [directory = ''] = groupPaths(group)
  await until(() => readPids(directory).length >= keeperLimits.processes)
  await group.remove()
  t.notOk(existsSync(directory))
})

t.test('groups of a living worker are not swept', async (t) => {
  const executor = await startExecutor(t)
  const running = run(executor, 'python', 'import time\ntime.sleep(0.5)\nprint("whole")')
  const other = await startExecutor(t)
  t.match(await run(other, 'python', 'print("other")'), { stdout: 'other\n' })
  t.match(await running, { ending: 'exited', stdout: 'whole\n' })
})

t.test('a name is abandoned only when its very process is gone', (t) => {
  const name = nameWorkerGroup()
  t.equal(isAbandoned(name), false)
  t.not(nameWorkerGroup(), name)
  const [first, namespace, pid, start, count] = name.split('-')
  t.equal(isAbandoned([first, namespace, pid, `${start}1`, count].join('-')), true)
  t.equal(isAbandoned([first, namespace, '4194304', start, count].join('-')), true)
  t.equal(isAbandoned([first, '1', '4194304', start, count].join('-')), false)
  t.equal(isAbandoned('somebody-else'), false)
  t.equal(isAbandoned('runledger-supervisor'), false)
  t.end()
})

t.test('hierarchies are read from what is mounted', (t) => {
  const v1 = readHierarchies(
    `31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/uni\\040fied rw - cgroup2 cgroup2 rw`,
    '4:memory:/docker/x/y\n2:cpu,cpuacct:/a:b\n0::/z',
  )
  t.same(v1, [
    {
      type: 'cgroup',
      mountPoint: '/sys/fs/cgroup/cpu,cpuacct',
      controllers: ['cpu', 'cpuacct'],
      ownGroup: '/sys/fs/cgroup/cpu,cpuacct/a:b',
    },
    {
      type: 'cgroup',
      mountPoint: '/sys/fs/cgroup/memory',
      controllers: ['memory'],
      ownGroup: '/sys/fs/cgroup/memory/y',
    },
    {
      type: 'cgroup2',
      mountPoint: '/sys/fs/cgroup/uni fied',
      controllers: [],
      ownGroup: '/sys/fs/cgroup/uni fied/z',
    },
  ])
  const v2 = readHierarchies('30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw', '0::/')
  t.same(v2, [
    { type: 'cgroup2', mountPoint: '/sys/fs/cgroup', controllers: [], ownGroup: '/sys/fs/cgroup' },
  ])
  t.end()
})

t.test('v1: what is not mounted is told at once', async (t) => {
  const ownGroup = '/nonexistent/memory'
  const memory = {
    type: 'cgroup',
    mountPoint: ownGroup,
    controllers: ['memory'],
    ownGroup,
  } as const
  t.throws(() => findVersionOne([memory]), failsAt('cgroup.find', /without: "pids", "cpuacct"/))
})
