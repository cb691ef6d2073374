// Holds a process up as the kernel can: frozen by the v1 freezer, it hears no kill until it is thawed.
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { readHierarchies } from '../../src/executor/cgroup/cgroup.ts'

const freezer = readHierarchies().find(({ controllers }) => controllers.includes('freezer'))

/** What a test says that freezes something. */
export const needsFreezer =
  freezer !== undefined && process.getuid?.() === 0 ? {} : { skip: 'no v1 freezer to be had' }

let groups = 0

/** Freezes it until it is thawed, at the latest when the test ends. */
export function freeze(t: Test, pid: number): { thaw(): void } {
  groups += 1
  const group = `${freezer!.ownGroup}/runledger-test-frozen-${process.pid}-${groups}`
  mkdirSync(group)
  const thaw = (): void => writeFileSync(`${group}/freezer.state`, 'THAWED')
  t.teardown(async () => {
    thaw()
    // It is there until what was in it has died.
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
