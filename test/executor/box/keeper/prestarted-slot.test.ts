// Runtimes that are started before their program, one for each slot. A runtime that cannot be started affects only its
// slot, and a limit that is passed before the program has started gives the program's result.
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import type { Phase } from '#contract'
import { SandboxError } from '#executor'
import { findBoxProcesses, firstUid } from '../../../helper/executor.ts'
import { until } from '../../../helper/until.ts'
import { openKeeperBoxes, request } from './lone-keeper.ts'

/** A shell that waits when it looks for its script. */
const shell = {
  name: 'shell',
  argv: ['/bin/sh', '-c', '. /box/script'],
  unlimitedStack: false,
  awaits: '/box/script',
  looksForBefore: [],
} as const

const needsSlots = process.getuid?.() === 0 ? {} : { skip: 'needs keepers of two users' }

const slots = [
  { index: 0, uid: firstUid, interactorUid: null },
  { index: 1, uid: firstUid + 1, interactorUid: null },
]

interface Shells {
  /** Runs a script in the first slot. */
  readonly run: (script: string, wallSeconds?: number) => Promise<Phase>
  /** The reported fallbacks. */
  readonly reasons: string[]
}

/** Opens keepers of two slots, with a shell in each. @param beforeGroup is called before each keeper's group is made. */
async function openShells(
  t: Test,
  beforeGroup: (uid: number | null) => Promise<void> = async () => {},
): Promise<Shells> {
  const reasons: string[] = []
  const boxes = await openKeeperBoxes(t, {
    slots,
    prestartedRuntimes: [shell],
    onFallback: (reason) => reasons.push(reason),
    async createForKeeper(usual, name, uid) {
      await beforeGroup(uid)
      return usual(name, uid)
    },
  })
  return {
    reasons,
    run(script, wallSeconds) {
      const { limits, ...plain } = request(shell.argv, { files: { script } })
      return boxes.run(slots[0]!, {
        ...plain,
        limits: { ...limits, processes: 64, ...(wallSeconds !== undefined && { wallSeconds }) },
      })
    },
  }
}

const isShell = (pid: number): boolean => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sh\n'

const untilUp = (shells: number): Promise<void> =>
  until(() => findBoxProcesses().filter(isShell).length === shells)

/** Counts the descriptors of the keepers, which are this process's children. */
function countHeld(): number {
  const held = readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .map((pid) => {
      try {
        const [, parent] =
          readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
        return parent === String(process.pid) ? readdirSync(`/proc/${pid}/fd`).length : 0
      } catch {
        return 0 // the process has ended
      }
    })
  return held.reduce((sum, count) => sum + count, 0)
}

t.test('what runs in the other slots goes on, in runtimes that were up', needsSlots, async (t) => {
  const failed = Promise.withResolvers<void>()
  let asked = 0
  const { run, reasons } = await openShells(t, async (uid) => {
    // The slot's first group is for the keeper that starts programs, the second for the shell.
    if (uid !== slots[1]!.uid || (asked += 1) !== 2) return
    await failed.promise
    throw new SandboxError('cgroup.create', 'not this time')
  })
  await untilUp(1)
  const running = run('sleep 2; echo done')
  await delay(500)
  failed.resolve()
  const { stdout } = await running
  t.equal(Buffer.from(stdout).toString(), 'done\n')
  while (reasons.length === 0) await delay(20)
  t.strictSame(reasons, ['no shell before its program: cgroup.create: not this time'])
  t.match(await run('exit 3'), { exitCode: 3 })
})

t.test('a limit that is passed before it has begun is its program’s end', needsSlots, async (t) => {
  const { run, reasons } = await openShells(t)
  await untilUp(2)
  const before = countHeld()
  for (let tried = 0; tried < 40; tried += 1) {
    t.match(await run('sleep 9', 1e-6), { ending: 'wall_limit' })
    // Meanwhile the next shell starts.
    await delay(100)
  }
  t.match(await run('exit 3'), { exitCode: 3 })
  t.strictSame(reasons, [])
  await untilUp(2)
  t.ok(countHeld() < before + 20, `${countHeld()} descriptors, ${before} before`)
})
