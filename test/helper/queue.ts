// Starts a worker's queue in the test's own process, with an executor of the test.
import type { Database } from '#database'
import { SandboxError } from '#executor'
import type { Executor } from '#executor'
import { createDeliverTask } from '#deliver'
import { createExecuteTask } from '#execute'
import { startQueue } from '#queue'
import { createLog } from '#log'
import type { Logger } from '#log'
import { createDeliverySettings } from '#webhook'
import { scaleLimits } from './executor.ts'

type Options = Parameters<typeof startQueue>[0]
type ExecuteOptions = Parameters<typeof createExecuteTask>[0]
type DeliverOptions = Parameters<typeof createDeliverTask>[0]

/** What a test that needs none of it gives an execution. */
export const withoutMore: Pick<ExecuteOptions, 'suspension' | 'blobs' | 'onExhausted'> = {
  suspension: {
    suspended: false,
    because: null,
    noteFailure: async () => false,
    noteSuccess() {},
    stop() {},
  },
  blobs: {
    read: () => Promise.reject(new SandboxError('blob.read', 'blobs are not read here')),
    forgetUnused() {},
  },
  onExhausted() {},
}

/** The options that a test sets for its queue; the others have defaults. */
export interface TestQueueOptions
  extends
    Partial<Pick<Options, 'executions' | 'deliveries'>>,
    Partial<Pick<ExecuteOptions, 'suspension'>> {
  readonly url: string
  readonly database: Database
  readonly executor: Executor
  readonly workerId: string
  /** Aborts when the queue must return its jobs. */
  readonly shutdown?: AbortSignal
  readonly deliver?: Partial<DeliverOptions>
  readonly log?: Logger
}

/** Starts a queue that runs, by default, as many executions at once as the executor has slots. */
export function startTestQueue(options: TestQueueOptions): ReturnType<typeof startQueue> {
  const { url, database, executor, workerId, executions = executor.slots, deliveries = 1 } = options
  const { log = createLog('test', 'silent'), shutdown = new AbortController().signal } = options
  const { suspension } = options
  const lease = { workerId, signal: new AbortController().signal }
  return startQueue({
    url,
    database,
    execute: createExecuteTask({
      database,
      patientDatabase: database,
      executor,
      limits: scaleLimits(),
      lease,
      shutdown,
      log,
      ...withoutMore,
      ...(suspension && { suspension }),
    }),
    executions,
    deliver: createDeliverTask({
      database,
      settings: createDeliverySettings({ version: 'test' }),
      schedule: [],
      perHost: 1,
      perAccount: 1,
      lease,
      log,
      signal: shutdown,
      ...options.deliver,
    }),
    deliveries,
    log,
  })
}
