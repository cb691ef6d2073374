// Time in which a program was ready to run but got no CPU is not the program's fault: it does not count towards the wall
// limit, and a program cannot produce it.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { SandboxError } from '#contract'
import type { Evidence } from '#contract'
import { startKeeper } from '../../../../src/executor/box/keeper/keeper-process.ts'
import type { Keeper } from '../../../../src/executor/box/keeper/keeper-process.ts'
import type { KeeperGroup } from '../../../../src/executor/cgroup/cgroup.ts'
import { failsAt, timeFactor } from '../../../helper/executor.ts'
import {
  listProcesses,
  openLaunches,
  request,
  startLoneKeeper,
  writeStandIn,
} from './lone-keeper.ts'

const wallSeconds = 0.5 * timeFactor
const isRoot = process.getuid?.() === 0

interface Run {
  readonly code: string
  readonly cores?: number
}

function run(keeper: Keeper, { code, cores = 1 }: Run): Promise<Evidence> {
  const command = ['/usr/bin/python3', '-S', '-c', code]
  return keeper.run({ ...request(command, { wallSeconds }), cores })
}

/** Pins the keeper to a core that a rival process always uses, so that the group gets at most a tenth of the core. */
async function starve(t: Test, keeper: Keeper, group: KeeperGroup): Promise<void> {
  const status = readFileSync('/proc/self/status', 'utf8')
  const core = /^Cpus_allowed_list:\t(\d+)/m.exec(status)?.[1] ?? ''
  for (const folder of group.entrances.map((path) => dirname(path)))
    for (const level of [folder, dirname(folder), dirname(dirname(folder))]) lighten(level)
  const rival = spawn('taskset', ['-c', core, process.execPath, '-e', 'for (;;);'])
  t.teardown(async () => {
    rival.kill('SIGKILL')
    await once(rival, 'exit')
  })
  // It is a rival once it has used a fifth of a second.
  while (countTicks(rival.pid!) < 20) await delay(10)
  const pinned = listProcesses(group).map((pid) => spawnSync('taskset', ['-cp', core, String(pid)]))
  t.ok(pinned.some(({ status }) => status === 0))
  // This run uses up the box that was made before. The keeper makes the next one on that core.
  await runPatiently(keeper, { code: 'pass' })
}

/** Returns the CPU time of a process, in hundredths of a second. */
function countTicks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

/** Lowers the CPU weight of a group to a tenth, if it is a group of Runledger. */
function lighten(folder: string): void {
  if (!/runledger-/.test(folder)) return
  for (const [file, tenth] of [
    ['cpu.shares', '100'],
    ['cpu.weight', '10'],
  ] as const)
    if (existsSync(`${folder}/${file}`)) writeFileSync(`${folder}/${file}`, tenth)
}

const computes = `import time\nwhile time.process_time() < ${0.08 * timeFactor}: pass`

/** Repeats a run that fails at `box.starved`, which can happen on a very busy machine. */
async function runPatiently(keeper: Keeper, asked: Run, tries = 5): Promise<Evidence> {
  try {
    return await run(keeper, asked)
  } catch (error) {
    if (tries === 1 || !(error instanceof SandboxError && error.step === 'box.starved')) throw error
    return runPatiently(keeper, asked, tries - 1)
  }
}

t.test('who is kept from running is not stopped for it', { skip: !isRoot }, async (t) => {
  const { keeper, group } = await startLoneKeeper(t)
  await starve(t, keeper, group)
  const { reason, exit, usage } = await runPatiently(keeper, { code: computes })
  t.strictSame({ reason, exit }, { reason: null, exit: { code: 0, signal: null } })
  t.ok(usage.wallSeconds > wallSeconds, `${usage.wallSeconds}`)
  t.ok((usage.delaySeconds ?? 0) > 0, `${usage.delaySeconds}`)
  const slept = await runPatiently(keeper, { code: 'import time\ntime.sleep(600)' })
  t.equal(slept.reason, 'wall_limit', 'who sleeps is')
})

t.test('who sleeps is stopped at the limit', async (t) => {
  const { keeper } = await startLoneKeeper(t)
  const { reason, usage } = await runPatiently(keeper, { code: 'import time\ntime.sleep(600)' })
  t.equal(reason, 'wall_limit')
  t.ok(usage.wallSeconds >= wallSeconds)
})

const busy = 'import os\nfor _ in range(3): os.fork()\nwhile True: pass'
const threads =
  'import threading\ndef turn():\n  while True: pass\nfor _ in range(8): threading.Thread(target=turn).start()'

for (const [what, code] of Object.entries({ processes: busy, threads })) {
  t.test(`${what} that wait for one another are not delayed`, async (t) => {
    const { keeper, group } = await startLoneKeeper(t)
    const cores = group.allow({ cores: 1, ...request([]).limits })
    const { reason, usage } = await runPatiently(keeper, { code })
    t.equal(reason, 'wall_limit')
    t.ok(
      usage.cpuSeconds <= (usage.wallSeconds * 1.1 + 0.05) * cores,
      'nor have more than their cores',
    )
    // The time that other processes took from the machine meanwhile is a delay.
    const others = usage.wallSeconds - usage.cpuSeconds / cores
    const { delaySeconds = 0 } = usage
    t.ok(delaySeconds <= others + 0.1 * wallSeconds, JSON.stringify(usage))
  })
}

t.test('who binds himself to one of several cores is not delayed by himself', async (t) => {
  const { keeper, group } = await startLoneKeeper(t)
  const cores = group.allow({ cores: 4, ...request([]).limits })
  const code = `import os\nos.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n${busy}`
  const { reason, usage } = await runPatiently(keeper, { code, cores })
  t.match(reason, /^(wall|cpu)_limit$/)
  const { wallSeconds: wall, cpuSeconds: cpu, delaySeconds = 0 } = usage
  t.ok(delaySeconds <= wall - cpu + 0.1 * wallSeconds, JSON.stringify(usage))
})

t.test('who is delayed gets no more cores than before', async (t) => {
  const body =
    "say('ready')\nhear_line()\nfor _ in range(12):\n  time.sleep(0.4)\n  say('delayed')\nsay(result(end='killed', status=9, reason='wall_limit'))\nhear(1 << 20)"
  const prepare = await openLaunches(t)
  const launch = await prepare('delayed', writeStandIn(t, body))
  let lifted = 0
  const liftQuota = (): void => void (lifted += 1)
  const keeper = await startKeeper({ ...launch, group: { ...launch.group, liftQuota } })
  launch.group.closeDescriptors()
  t.teardown(() => keeper.close())
  const { reason } = await keeper.run(request(['/bin/true'], { wallSeconds: 2 }))
  t.equal(reason, 'wall_limit')
  t.equal(lifted, 0)
})

t.test('who is kept from running for too long is no word on its program', async (t) => {
  const body =
    "say('ready')\nhear_line()\nsay('delayed')\nsay('delayed')\nsay(result(end='killed', status=9, reason='starved'))\nhear(1 << 20)"
  const { keeper } = await startLoneKeeper(t, { program: writeStandIn(t, body) })
  await t.rejects(keeper.run(request(['/bin/true'])), failsAt('box.starved'))
  t.equal(keeper.alive, true, 'nor on its keeper')
})
