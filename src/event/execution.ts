// execution.*: one attempt to run a submission, from start to end.
import type { BodyDigest } from './submission.ts'

/** The verdicts that a completed execution can have; IE is execution.abandoned's. */
export const verdicts = ['AC', 'WA', 'CE', 'RE', 'TLE', 'MLE', 'OLE'] as const
export type Verdict = (typeof verdicts)[number]

export interface ExecutionStarted {
  readonly type: 'execution.started'
  /** `attempt` (1, 2, …) is added where it is known, in runledger.start_execution. */
  readonly data: {
    /** The attempt's own id: the statement that begins it, sent again, begins no other. */
    readonly run: string
    readonly worker: string
    readonly host: string
    readonly language: string
    /** The exact version that runs, such as `Python 3.11.2`. */
    readonly runtime: string
    readonly limits: object
    readonly isolation: object
  }
}

/** What one phase used and how it ended; seconds and bytes. */
export interface PhaseFacts {
  readonly ending: string
  readonly exit_code: number
  readonly signal: string | null
  readonly cpu_seconds: number
  readonly wall_seconds: number
  readonly memory_peak_bytes: number
}

/** An output's digest, and whether the program wrote more than was kept. */
export interface OutputDigest extends BodyDigest {
  readonly truncated: boolean
}

export interface ExecutionCompleted {
  readonly type: 'execution.completed'
  readonly data: {
    readonly verdict: Verdict
    readonly exit_code: number | null
    readonly signal: string | null
    readonly compile: (PhaseFacts & { readonly cached: boolean }) | null
    readonly run: PhaseFacts | null
    readonly stdout: OutputDigest
    readonly stderr: OutputDigest
    readonly compile_output: OutputDigest | null
  }
}

export interface ExecutionInterrupted {
  readonly type: 'execution.interrupted'
  readonly data: {
    /**
     * `sandbox_failed`, `worker_lost` and `superseded` (begun again by the same worker) are losses; `shutdown` and
     * `lease_expired` (the worker could not say that it lives, and stopped by itself) cost nothing.
     */
    readonly reason: 'sandbox_failed' | 'worker_lost' | 'shutdown' | 'lease_expired' | 'superseded'
    readonly spends_attempt: boolean
    /** The sandbox's step that failed, and its words. */
    readonly step?: string
    readonly message?: string
  }
}

export interface ExecutionAbandoned {
  readonly type: 'execution.abandoned'
  readonly data: { readonly losses: number }
}

export type ExecutionEvent =
  ExecutionStarted | ExecutionCompleted | ExecutionInterrupted | ExecutionAbandoned
