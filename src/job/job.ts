// The worker's entry to its tasks. #queue takes their jobs, #execute runs submissions, deliver.ts sends records.
export { createExecuteTask, createSuspension, describeLimits } from '#execute'
export { startQueue } from '#queue'
export type { Queue } from '#queue'
export { createDeliverTask } from './deliver.ts'
export { createLease } from './lease.ts'
export { commandItself, createCommandFollower } from './command.ts'
export { startRetention } from './retention.ts'
export { startSweep } from './sweep.ts'
