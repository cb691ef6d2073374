// Freezes a process with the v1 freezer. Like a process that hangs in the kernel, it ignores SIGKILL until it is thawed.
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { readHierarchies } from '../../src/executor/cgroup/cgroup.ts'

const freezer = readHierarchies().find(({ controllers }) => controllers.includes('freezer'))

/** The options of a test that freezes a process: skipped where that is not possible. */
export const needsFreezer =
  freezer !== undefined && process.getuid?.() === 0 ? {} : { skip: 'no v1 freezer to be had' }

let groups = 0

/** Freezes a process until `thaw`, or until the test ends. */
export function freeze(t: Test, pid: number): { thaw(): void } {
  groups += 1
  const group = `${freezer!.ownGroup}/runledger-test-frozen-${process.pid}-${groups}`
  mkdirSync(group)
  const thaw = (): void => writeFileSync(`${group}/freezer.state`, 'THAWED')
  t.teardown(async () => {
    thaw()
    // The cgroup cannot be removed until its process has died.
    for (;;) {
      try {
        rmdirSync(group)
        return
      } catch {
        await delay(10)
      }
    }
  })
  writeFileSync(`${group}/cgroup.procs`, String(pid))
  writeFileSync(`${group}/freezer.state`, 'FROZEN')
  return { thaw }
}
