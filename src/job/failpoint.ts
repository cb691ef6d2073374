// Points before and after each commit and side effect between "acknowledged" and "final", where fault tests crash
// processes (node:diagnostics_channel, test/faults). Without a subscriber nothing happens.
import { channel } from 'node:diagnostics_channel'

/** `<what>.<before or after>_<commit or side effect>`; the channels are called `runledger:<name>`. */
export const failpoints = [
  'submit.before_commit',
  'submit.after_commit',
  'batch.before_commit',
  'batch.after_commit',
  'cancel.before_commit',
  'cancel.after_commit',
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
type Failpoint = (typeof failpoints)[number]

/** Runs the subscribers of a point before it returns. */
export function reachFailpoint(name: Failpoint): void {
  channel(`runledger:${name}`).publish(undefined)
}
