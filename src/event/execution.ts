// execution.*: one attempt to run a submission, from start to end.
import type { BodyDigest } from './submission.ts'

/** Of completed executions; IE: the submission's own checker failed. */
export const verdicts = ['AC', 'WA', 'CE', 'RE', 'TLE', 'MLE', 'OLE', 'IE'] as const
export type Verdict = (typeof verdicts)[number]

export interface ExecutionStarted {
  readonly type: 'execution.started'
  /** runledger.start adds `attempt` (1, 2, …) and `total_seconds`, what the submission may run in all. */
  readonly data: {
    /** If its statement is sent again, no second attempt begins. */
    readonly run: string
    readonly worker: string
    readonly host: string
    /** That the host has. Earlier releases did not record it. */
    readonly host_cores?: number
    readonly language: string
    /** The exact version, such as `Python 3.11.2`. */
    readonly runtime: string
    /** Of each phase; `cores`, that a box may use at once: the worker's share of a slot, or what the tier gives. */
    readonly limits: object
    readonly isolation: object
  }
}

/** Limits whose passing ends a run; `total_time` is the submission's as a whole, all others are of one run. */
export const exceededLimits = [
  'cpu_time',
  'wall_time',
  'memory',
  'stdout',
  'stderr',
  'total_time',
] as const
export type ExceededLimit = (typeof exceededLimits)[number]

/** What one phase used and how it ended. */
export interface PhaseFacts {
  readonly ending: string
  readonly exit_code: number
  readonly signal: string | null
  readonly cpu_time: number
  readonly wall_time: number
  readonly memory_peak: number
  /** For so long it could have run and was not let, at least, if that was seen. Its wall limit did not count it. */
  readonly delay_seconds?: number
}

/** `truncated`: the program wrote more than was kept. */
export interface OutputDigest extends BodyDigest {
  readonly truncated: boolean
}

/** One test; a null verdict: it was not run; a verdict alone: there are too many for an event to say more of each. */
export type TestFacts =
  | { readonly verdict: Verdict | null }
  | (PhaseFacts & {
      readonly verdict: Verdict
      readonly limit?: ExceededLimit
      readonly stdout: OutputDigest
      readonly stderr: OutputDigest
    })

/** Of a file that a run has left. */
export interface LeftFile {
  readonly name: string
  readonly bytes: number
  readonly sha256?: string
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
    /** The limit that ended the run; left out when none did. */
    readonly limit?: ExceededLimit
    /** What the passed tests are worth, and what all would be; left out where they have no points. */
    readonly score?: number
    readonly max_score?: number
    /** Of the report of the end beside the outputs, if anything is. */
    readonly report?: BodyDigest
    /** In the order of the request. `run` has the end of the one that decided, and the most that any of them used. */
    readonly tests?: readonly TestFacts[]
    /** What the run has left of what was asked for; `sha256` of those that were kept. */
    readonly files?: readonly LeftFile[]
    /** How many were read, and how many of them had to be fetched, as the worker had not kept them. */
    readonly blobs?: { readonly read: number; readonly fetched: number }
    /** For so long the attempt had a slot, which its account is charged for. Earlier releases did not record it. */
    readonly slot_seconds?: number
  }
}

export interface ExecutionInterrupted {
  readonly type: 'execution.interrupted'
  readonly data: {
    /**
     * `sandbox_failed`, `worker_lost` and `superseded` (started again by the same worker) are losses; `shutdown` and
     * `lease_expired` (the worker stopped by itself) cost nothing.
     */
    readonly reason: 'sandbox_failed' | 'worker_lost' | 'shutdown' | 'lease_expired' | 'superseded'
    readonly spends_attempt: boolean
    /** The sandbox's step that failed, and its message. */
    readonly step?: string
    readonly message?: string
  }
}

interface ExecutionAbandoned {
  readonly type: 'execution.abandoned'
  readonly data: { readonly losses: number }
}

export type ExecutionEvent =
  ExecutionStarted | ExecutionCompleted | ExecutionInterrupted | ExecutionAbandoned
