// The worker's entry to its tasks. #queue takes their jobs, #execute runs submissions, deliver.ts sends records.
import { createExecuteTask } from '#execute'
import type { ExecuteDependencies } from '#execute'
import { startRunners } from '#queue'
import type { Queue, QueueOptions } from '#queue'
import { createDeliverTask } from './deliver.ts'
import type { DeliverDependencies } from './deliver.ts'

export { createSuspension, describeLimits, fetchBlob } from '#execute'
export type { Suspension } from '#execute'
export { createLease } from './lease.ts'
export type { Lease } from './lease.ts'
export { createCommandFollower } from './command-follower.ts'
export type { CommandFollower } from './command-follower.ts'
export { commandItself } from './command.ts'
export { startRetention } from './retention.ts'
export { startSweep } from './sweep.ts'

/** `executions` is the number of the executor's slots. */
export type JobOptions = Omit<QueueOptions, 'execute' | 'deliver'> & {
  readonly execute: ExecuteDependencies
  readonly deliver: DeliverDependencies
}

export async function startQueue(options: JobOptions): Promise<Queue> {
  return startRunners({
    ...options,
    execute: createExecuteTask(options.execute),
    deliver: createDeliverTask(options.deliver),
  })
}
