// Waits for something that comes by itself.
import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves once the condition holds. It has no time limit of its own, because machines are slow; test/run.ts has one. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(10)
}
