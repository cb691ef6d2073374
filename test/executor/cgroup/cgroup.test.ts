// Cgroups on this machine's own kernel: limits that cannot be had, what is left behind, whose groups are swept.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism, tmpdir, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import type { PhaseRequest } from '#contract'
import { SandboxError } from '#executor'
import { defaultLimits } from '#language'
import { readHostRoot } from '../../../src/executor/box/bubblewrap/arguments.ts'
import { findInheritedDescriptors } from '../../../src/executor/box/bubblewrap/inherited-descriptors.ts'
import type { BoxResources } from '../../../src/executor/box/bubblewrap/open-box.ts'
import { runPhase } from '../../../src/executor/box/bubblewrap/run-phase.ts'
import { createStandardStreams } from '../../../src/executor/box/bubblewrap/standard-stream.ts'
import {
  openCgroupParent,
  readHierarchies,
  shareCores,
} from '../../../src/executor/cgroup/cgroup.ts'
import type { Cgroup, CgroupParent } from '../../../src/executor/cgroup/cgroup.ts'
import { openCgroupV1 } from '../../../src/executor/cgroup/v1.ts'
import { isAbandoned, nameWorkerGroup } from '../../../src/executor/cgroup/worker-group.ts'
import { assembleFilter } from '../../../src/executor/seccomp/seccomp.ts'
import {
  failsAt,
  findBoxProcesses,
  firstUid,
  run,
  startExecutor,
  timeFactor,
} from '../../helper/executor.ts'
import { needsFreezer } from '../../helper/freeze.ts'

t.setTimeout(120_000 * timeFactor)
const parent = await openCgroupParent(nameWorkerGroup())
const directory = mkdtempSync(join(tmpdir(), 'runledger-test-'))
const streams = createStandardStreams(join(directory, 'streams'))
const emptyDescriptor = openSync('/dev/null', 'r')
t.teardown(async () => {
  closeSync(emptyDescriptor)
  streams.close()
  rmSync(directory, { recursive: true })
  await parent.close()
})

const limits = { memoryBytes: 64 * 1024 * 1024, processes: 8 }
const groupPaths = (group: Cgroup): string[] => group.entrances.map((file) => dirname(file))

/** A host whose cgroups are changed by `change` on the way. */
function makeResources(change: (group: Cgroup) => Cgroup): {
  resources: BoxResources
  made: string[]
} {
  const made: string[] = []
  const cgroups: CgroupParent = {
    ...parent,
    async create(name, wanted) {
      const group = await parent.create(name, wanted)
      made.push(...groupPaths(group))
      return change(group)
    },
  }
  return {
    made,
    resources: {
      cgroups,
      streams,
      filter: assembleFilter(),
      root: readHostRoot(),
      inherited: findInheritedDescriptors(),
      emptyDescriptor,
    },
  }
}

const uid = process.getuid?.() === 0 ? firstUid : null

const request: PhaseRequest = {
  name: 'test',
  command: { argv: ['/bin/sh', '-c', 'echo ran'], files: [], unlimitedStack: false },
  paths: [],
  stdin: new Uint8Array(),
  limits: defaultLimits.python.run,
  ranOutOfMemory: () => false,
}

t.test('a slot has its share of the cores, and one at least', async (t) => {
  const shares = [shareCores(2, 2), shareCores(2, 8), shareCores(4, 2), shareCores(1, 1)]
  t.strictSame(shares, [1, 4, 1, 1])
})

t.test("all boxes together leave an eighth of the host's memory", async (t) => {
  const group = await parent.createForKeeper('bounded', null)
  t.teardown(() => group.remove())
  group.closeDescriptors()
  const limits = group.entrances
    .flatMap((path) => [
      `${dirname(dirname(path))}/memory.limit_in_bytes`,
      `${dirname(dirname(dirname(path)))}/memory.max`,
    ])
    .filter((path) => existsSync(path))
    .map((path) => Number(readFileSync(path, 'utf8')))
  t.equal(limits.length, 1)
  t.ok(Math.abs((limits[0] ?? 0) / totalmem() - 7 / 8) < 0.01)
})

t.test('a group of one core', async (t) => {
  const group = await parent.createForKeeper('one-core', null)
  t.teardown(() => group.remove())
  group.closeDescriptors()
  const readQuota = (): number | undefined =>
    group.entrances
      .flatMap((path) => [`${dirname(path)}/cpu.cfs_quota_us`, `${dirname(dirname(path))}/cpu.max`])
      .filter((path) => existsSync(path))
      .map((path) => Number.parseInt(readFileSync(path, 'utf8'), 10) / 10_000)[0]
  if (readQuota() === undefined) return
  t.equal(readQuota(), 1, 'uses no more')
  const all = availableParallelism()
  t.equal(group.limitCores(all + 1), all)
  t.equal(readQuota(), all, 'may be given all of them')
  t.equal(group.limitCores(undefined), 1)
  t.equal(readQuota(), 1, 'and has its share again')
})

t.test('a phase runs in a group of its own and the group is gone after it', async (t) => {
  const { resources, made } = makeResources((group) => group)
  const phase = await runPhase(resources, uid, request)
  t.match(phase, { ending: 'exited', exitCode: 0 })
  t.equal(Buffer.from(phase.stdout).toString(), 'ran\n')
  t.ok(made.length > 0)
  t.same(
    made.filter((path) => existsSync(path)),
    [],
  )
})

t.test('a limit that cannot be written is an error and leaves no group', async (t) => {
  await t.rejects(
    parent.create('bad', { ...limits, processes: Number.NaN }),
    failsAt('cgroup.limit'),
  )
  await t.rejects(
    parent.create('bad', { ...limits, memoryBytes: Number.NaN }),
    failsAt('cgroup.limit'),
  )
  const again = await parent.create('bad', limits)
  await again.remove()
})

t.test('a group that is there already is an error', async (t) => {
  const group = await parent.create('twice', limits)
  await t.rejects(parent.create('twice', limits), failsAt('cgroup.create'))
  await group.remove().catch(() => {})
  t.same(
    groupPaths(group).filter((path) => existsSync(path)),
    [],
  )
})

t.test('a box that is not in its group is never let go', async (t) => {
  const { resources, made } = makeResources((group) => ({ ...group, entrances: [] }))
  await t.rejects(runPhase(resources, uid, request), failsAt('cgroup.attach'))
  t.same(
    made.filter((path) => existsSync(path)),
    [],
  )
  t.same(findBoxProcesses(), [])
})

t.test('a worker that dies before it lets the program go has started nothing', async (t) => {
  const { resources, made } = makeResources((group) => group)
  // What the kernel does for a dead worker: its end is closed, and nothing was written.
  const orphaned = {
    ...streams,
    async openGate() {
      const gate = await streams.openGate()
      let closed = false
      const close = (): void => {
        if (!closed) gate.close()
        closed = true
      }
      return { ...gate, open: close, close }
    },
  }
  const tight = { ...request.limits, wallSeconds: 1 }
  const phase = await runPhase({ ...resources, streams: orphaned }, uid, {
    ...request,
    limits: tight,
  })
  t.match(phase, { ending: 'wall_limit' })
  t.equal(Buffer.from(phase.stdout).toString(), '')
  t.same(
    made.filter((path) => existsSync(path)),
    [],
  )
  t.same(findBoxProcesses(), [])
})

t.test('a group that cannot be entered runs nothing', async (t) => {
  const { resources, made } = makeResources((group) => ({
    ...group,
    entrances: ['/proc/none/cgroup.procs'],
  }))
  await t.rejects(runPhase(resources, uid, request), failsAt('bubblewrap.setup', /\/proc\/none/))
  t.same(
    made.filter((path) => existsSync(path)),
    [],
  )
})

t.test('a group that cannot be removed leaves the verdict as it is, and is told of', async (t) => {
  const { resources } = makeResources((group) => ({
    ...group,
    async remove() {
      await group.remove()
      throw new SandboxError('cgroup.remove', 'busy')
    },
  }))
  const left: Promise<void>[] = []
  const phase = await runPhase(resources, uid, request, undefined, (cleared) => left.push(cleared))
  t.match(phase, { ending: 'exited', exitCode: 0 })
  t.equal(left.length, 1)
  await t.rejects(left[0]!, failsAt('cgroup.remove'))
})

t.test('counters that cannot be read end the run as our failure', async (t) => {
  const { resources, made } = makeResources((group) => ({
    ...group,
    readOutOfMemoryKills() {
      throw new Error('unreadable')
    },
  }))
  const command = { ...request.command, argv: ['/bin/sh', '-c', 'sleep 60'] }
  await t.rejects(runPhase(resources, uid, { ...request, command }), failsAt('cgroup.read'))
  t.same(
    made.filter((path) => existsSync(path)),
    [],
  )
  t.same(findBoxProcesses(), [])
})

t.test('a program that is not there is our failure', async (t) => {
  const { resources } = makeResources((group) => group)
  const command = { ...request.command, argv: ['/nothing'] }
  await t.rejects(runPhase(resources, uid, { ...request, command }), failsAt('bubblewrap.setup'))
})

t.test(
  'a memory or process limit too small for the box is our failure, not a verdict',
  async (t) => {
    const { resources, made } = makeResources((group) => group)
    const tiny = { ...request.limits, processes: -1 }
    await t.rejects(
      runPhase(resources, uid, { ...request, limits: tiny }),
      failsAt('bubblewrap.setup'),
    )
    t.same(
      made.filter((path) => existsSync(path)),
      [],
    )
  },
)

t.test('what was used before the start of measuring does not count', async (t) => {
  const group = await parent.create('measured', limits)
  const busy = spawn('/bin/sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' })
  await once(busy, 'spawn')
  for (const entrance of group.entrances) writeFileSync(entrance, String(busy.pid))
  while (group.readCpuSeconds() < 0.1) await delay(10)
  busy.kill('SIGSTOP')
  await delay(50)
  group.startMeasuring()
  t.ok(group.readCpuSeconds() < 0.05)
  busy.kill('SIGCONT')
  while (group.readCpuSeconds() < 0.1) await delay(10)
  t.ok(group.readMemoryPeakBytes() > 0)
  await group.empty()
  await group.remove()
})

t.test('measuring may start anew as often as one likes, and opens no more by it', async (t) => {
  const group = await parent.create('again', limits)
  const countDescriptors = (): number => readdirSync('/proc/self/fd').length
  group.startMeasuring()
  const before = countDescriptors()
  for (let round = 0; round < 100; round += 1) group.startMeasuring()
  t.equal(countDescriptors(), before)
  await group.remove()
})

t.test('a slot whose group cannot be removed is taken out of service', async (t) => {
  // cgroup v2 kills and removes whole subtrees, so there is nothing there that a test can hold on to.
  if (parent.version === 'v2') return
  const executor = await startExecutor(t, { box: 'bubblewrap' })
  const { ownGroup } = readHierarchies().find(({ controllers }) => controllers.includes('memory'))!
  const running = run(executor, 'python', 'import time\ntime.sleep(1)')
  let phases: string[] = []
  let found = ''
  while (phases.length === 0) {
    await delay(20)
    const mine = readdirSync(ownGroup).filter((name) => name.includes(`-${process.pid}-`))
    found = join(ownGroup, mine.toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1)).at(-1)!)
    phases = readdirSync(found).filter((name) => /^\d+$/.test(name))
  }
  const blocking = join(found, phases[0]!, 'blocking')
  mkdirSync(blocking)
  t.match(await running, { exitCode: 0 }, 'the verdict stands')
  t.equal(executor.slots, 1)
  t.match(await run(executor, 'python', 'print("on")'), { stdout: 'on\n' })
  rmdirSync(blocking)
})

/** Groups of a worker that lives until `kill`, with a process in them: whoever makes groups sweeps, other test files too. */
async function plantGroups(): Promise<{
  readonly group: Cgroup
  readonly sleeper: ChildProcess
  kill(): Promise<void>
}> {
  const worker = spawn('/bin/sleep', ['60'], { stdio: 'ignore' })
  await once(worker, 'spawn')
  const [prefix, namespace] = nameWorkerGroup().split('-')
  const startTicks = readFileSync(`/proc/${worker.pid}/stat`, 'utf8').split(' ')[21]
  const name = [prefix, namespace, worker.pid, startTicks, 1].join('-')
  const group = await (await openCgroupParent(name)).create('left', limits)
  const sleeper = spawn('/bin/sleep', ['60'], { stdio: 'ignore' })
  await once(sleeper, 'spawn')
  for (const entrance of group.entrances) writeFileSync(entrance, String(sleeper.pid))
  return {
    group,
    sleeper,
    async kill() {
      worker.kill('SIGKILL')
      await once(worker, 'exit')
    },
  }
}

/** A worker that starts finds nothing of them afterwards. */
async function areSwept(
  t: Test,
  { group, sleeper, kill }: Awaited<ReturnType<typeof plantGroups>>,
): Promise<void> {
  t.ok(group.holds(sleeper.pid!))
  const ended = once(sleeper, 'exit')
  await kill()
  const living = await openCgroupParent(nameWorkerGroup())
  // Another test file's worker may be at it, too.
  const [, signal] = await ended
  t.equal(signal, 'SIGKILL')
  while (groupPaths(group).some((path) => existsSync(dirname(path)))) await delay(10)
  await living.close()
}

t.test('groups of a dead worker are swept, with their processes', async (t) => {
  await areSwept(t, await plantGroups())
})

t.test(
  'a worker that died while it froze its processes is swept as well',
  needsFreezer,
  async (t) => {
    const planted = await plantGroups()
    const freezer = groupPaths(planted.group).find((path) => existsSync(`${path}/freezer.state`))
    writeFileSync(`${freezer}/freezer.state`, 'FROZEN')
    await areSwept(t, planted)
  },
)

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

t.test('v1: what is not mounted and what may not be used are told at once', async (t) => {
  const ownGroup = '/nonexistent/memory'
  const memory = {
    type: 'cgroup',
    mountPoint: ownGroup,
    controllers: ['memory'],
    ownGroup,
  } as const
  await t.rejects(
    openCgroupV1('runledger-test', [memory], 1),
    failsAt(
      'cgroup.find',
      /without: "pids", "cpuacct"; neither .*\/memory\/runledger-test.*as root/,
    ),
  )
})
