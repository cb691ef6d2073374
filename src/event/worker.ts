// worker.*: operators' commands to a worker process.

export interface WorkerEvent {
  /** drained: it ends when it has finished what it has; restarted: then it begins again, under another id. */
  readonly type: `worker.${'paused' | 'resumed' | 'drained' | 'restarted'}`
  readonly data: { readonly host: string }
}
