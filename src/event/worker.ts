// worker.*: operators' commands to a worker process.

interface Data {
  readonly host: string
}

interface WorkerPaused {
  readonly type: 'worker.paused'
  readonly data: Data
}

interface WorkerResumed {
  readonly type: 'worker.resumed'
  readonly data: Data
}

/** It ends when it has finished what it has. */
interface WorkerDrained {
  readonly type: 'worker.drained'
  readonly data: Data
}

/** It begins again, under another id, when it has finished what it has. */
interface WorkerRestarted {
  readonly type: 'worker.restarted'
  readonly data: Data
}

export type WorkerEvent = WorkerPaused | WorkerResumed | WorkerDrained | WorkerRestarted
