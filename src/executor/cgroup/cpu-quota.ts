// How much CPU a box may use at once: its slot's share of the cores. Without this quota a program could starve the other slots,
// the worker and the kernel's threads, because the scheduler favours tasks that wake each other up all the time. A box exceeds
// its CPU limit by at most its cores times the pause between two readings of its counters. The quota's periods are short for
// the same reason.
import { availableParallelism } from 'node:os'

export const cpuPeriodMicroseconds = 10_000

/** Returns the cores of a box when `slots` programs run at once: at least one, so that no program has less than a core. */
export function shareCores(slots: number, cores = availableParallelism()): number {
  return Math.max(1, cores / slots)
}

/** Returns the cores asked for, but at least the share and at most all cores of the host. */
export function grantCores(share: number, asked: number | undefined): number {
  return asked === undefined ? share : Math.max(share, Math.min(asked, availableParallelism()))
}

/** Returns the CPU time per period. */
export function quotaMicroseconds(cores: number): number {
  return Math.round(cores * cpuPeriodMicroseconds)
}
