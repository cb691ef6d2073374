// A box that a kill does not end: the verdict so far remains, and only the slot waits. Cgroup v1 only, where a frozen
// process does not react to a kill, like a process that the kernel blocks.
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { findBoxProcesses, run, scaleLimits, startExecutor } from '../../helper/executor.ts'
import { freeze, needsFreezer } from '../../helper/freeze.ts'

/** A program with a child that the test freezes. It continues with `tail` when the child is frozen. */
const code = (tail: string): string => `
import os, sys, time
print("before", flush=True)
child = os.fork()
if child == 0: os.execv("/bin/sleep", ["sleep", "86399"])
held = 0
while held < 20:
  held = held + 1 if open(f"/proc/{child}/stat").read().split(") ")[1][0] == "D" else 0
  time.sleep(0.02)
${tail}`

async function findSleeper(): Promise<number> {
  for (;;) {
    const found = findBoxProcesses().find((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === 'sleep\x0086399\0'
      } catch {
        return false
      }
    })
    if (found !== undefined) return found
    await delay(5)
  }
}

t.test('its verdict stands, and the slot waits', needsFreezer, async (t) => {
  const limits = scaleLimits({ cpuSeconds: 2, wallSeconds: 60, stdoutBytes: 1 << 16 })
  const executor = await startExecutor(t, {
    languages: ['python'],
    limits,
    accelerators: [],
    dyingSeconds: 5,
  })
  const cases = [
    ['sys.exit(3)', { ending: 'exited', exitCode: 3, stdout: 'before\n' }],
    ['while True: pass', { ending: 'cpu_limit', stdout: 'before\n' }],
    ['while True: print("x" * 1000)', { ending: 'output_limit', stdout: /^before\n/ }],
  ] as const
  for (const [tail, expected] of cases) {
    const running = run(executor, 'python', code(tail))
    const { thaw } = freeze(t, await findSleeper())
    t.match(await running, expected, tail)
    thaw()
    const next = [1, 2].map(() => run(executor, 'python', 'print(1)'))
    t.match(await Promise.all(next), [{ stdout: '1\n' }, { stdout: '1\n' }], 'in both slots')
    t.equal(executor.slots, 2)
  }

  const running = run(executor, 'python', code('sys.exit(4)'))
  const { thaw } = freeze(t, await findSleeper())
  t.match(await running, { ending: 'exited', exitCode: 4 })
  t.match(await run(executor, 'python', 'print(2)'), { stdout: '2\n' }, 'in the other slot')
  while (executor.slots === 2) await delay(20)
  t.equal(executor.slots, 1, 'what cannot be cleared is quarantined')
  t.match(await run(executor, 'python', 'print(3)'), { stdout: '3\n' })
  thaw()
})
