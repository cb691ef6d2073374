// For the fault suite (test/faults): places at which a process can be made to die, before and after each commit and
// each side effect between "acknowledged" and "final". Without CRASH_AT in the environment a place does nothing.
import { ConfigError } from '#config'

/** All places, so that a suite can visit each: `<what>.<before or after>_<its commit or side effect>`. */
export const crashPoints = [
  'submit.before_commit',
  'submit.after_commit',
  'batch.before_commit',
  'batch.after_commit',
  'lease.before_register',
  'lease.after_register',
  'execute.before_start',
  'execute.after_start',
  'execute.before_complete',
  'execute.after_complete',
  'execute.before_interrupt',
  'execute.after_interrupt',
  'sweep.before_commit',
  'sweep.after_commit',
  'reconcile.before_commit',
  'reconcile.after_commit',
  'deliver.before_send',
  'deliver.before_record',
  'deliver.after_record',
  'deliver.before_postpone',
  'deliver.after_postpone',
  'retention.before_make',
  'retention.after_make',
  'retention.before_purge',
  'retention.after_purge',
] as const
export type CrashPoint = (typeof crashPoints)[number]

let armed: CrashPoint | null = null

/** Chooses the place at which this process dies. @throws {ConfigError} for a name that is none. */
export function armCrashPoint(name: string | undefined): void {
  const known = crashPoints.find((point) => point === name)
  if (name !== undefined && known === undefined)
    throw new ConfigError(`  CRASH_AT: there is no ${name}`)
  armed = known ?? null
}

/** Dies here, without a chance to clean up, if this is the chosen place. */
export function crashPoint(name: CrashPoint): void {
  if (name === armed) process.kill(process.pid, 'SIGKILL')
}
