// How much CPU a box may use at once: its slot's share of the cores. More would be what the programs of other slots, the
// worker itself and the kernel's own threads run on: the scheduler does not keep those of a group that wakes itself up all the
// time from starving others. A box passes its CPU limit by at most its cores times the pause between two readings. Periods are
// short for that.
import { availableParallelism } from 'node:os'

export const cpuPeriodMicroseconds = 10_000

/** The cores of a box, where so many programs run at once. One at least, as a program that runs alone is to have all of it. */
export function shareCores(slots: number, cores = availableParallelism()): number {
  return Math.max(1, cores / slots)
}

/** What is asked for, and never less than the share nor more than there is. */
export function grantCores(share: number, asked: number | undefined): number {
  return Math.max(share, Math.min(asked ?? share, availableParallelism()))
}

/** CPU time per period. */
export function quotaMicroseconds(cores: number): number {
  return Math.round(cores * cpuPeriodMicroseconds)
}
