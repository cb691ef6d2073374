// execution.*: one attempt to run a submission, from start to end.
import type { BodyDigest } from './submission.ts'

/** The verdicts of completed executions. IE: the submission's checker failed. */
export const verdicts = ['AC', 'WA', 'CE', 'RE', 'TLE', 'MLE', 'OLE', 'IE'] as const
export type Verdict = (typeof verdicts)[number]

/** Limits that end a run when it exceeds them. `total_time` is for the whole submission, all others are for one run. */
export const exceededLimits = [
  'cpu_time',
  'wall_time',
  'memory',
  'stdout',
  'stderr',
  'total_time',
] as const
export type ExceededLimit = (typeof exceededLimits)[number]

/** What one phase used, and its ending. */
export interface PhaseFacts {
  readonly ending: string
  readonly exit_code: number
  readonly signal: string | null
  readonly cpu_time: number
  readonly wall_time: number
  readonly memory_peak: number
  /**
   * How long, at least, the phase was runnable but got no CPU; left out when no delay was detected. The wall limit did not
   * count this time.
   */
  readonly delay_seconds?: number
}

/** The digest of a kept output. `truncated`: the program wrote more than was kept. */
export interface OutputDigest extends BodyDigest {
  readonly truncated: boolean
}

/** One test. Null verdict: it was not run. A verdict alone: the event has no room for more about so many tests. */
export type TestFacts =
  | { readonly verdict: Verdict | null }
  | (PhaseFacts & {
      readonly verdict: Verdict
      readonly limit?: ExceededLimit
      readonly stdout: OutputDigest
      readonly stderr: OutputDigest
    })

/** A file that a run left behind. */
export interface LeftFile {
  readonly name: string
  readonly bytes: number
  readonly sha256?: string
}

export interface ExecutionEvents {
  /** runledger.start adds `attempt` (1, 2, …) and `total_seconds`, the time that the submission may run in all. */
  readonly 'execution.started': {
    /** The attempt's id. Because of it, repeating the statement starts no second attempt. */
    readonly run: string
    readonly worker: string
    readonly host: string
    /** How many cores the host has. */
    readonly host_cores: number
    readonly language: string
    /** The exact version, such as `Python 3.11.2`. */
    readonly runtime: string
    /** By phase. `cores`: how many a box may use at once, by the slot's share of the worker's cores or by the tier. */
    readonly limits: object
    readonly isolation: object
  }
  readonly 'execution.completed': {
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
    /** The points of the passed tests, and of all tests; left out when tests have no points. */
    readonly score?: number
    readonly max_score?: number
    /** The digest of the report (result/report.ts), if there is one. */
    readonly report?: BodyDigest
    /** In the order of the request. `run` has the ending of the test that decided, and the most that any test used. */
    readonly tests?: readonly TestFacts[]
    /** The requested files that the run left behind. `sha256` is present for files that were kept. */
    readonly files?: readonly LeftFile[]
    /** How many blobs were read, and how many of those the worker had to fetch because it had not kept them. */
    readonly blobs?: { readonly read: number; readonly fetched: number }
    /** How long the attempt had a slot. The account is charged for this time. */
    readonly slot_seconds?: number
  }
  readonly 'execution.interrupted': {
    /**
     * `sandbox_failed`, `worker_lost` and `superseded` (the same worker started it again) are losses that count. `shutdown`
     * and `lease_expired` (the worker stopped by itself) do not count.
     */
    readonly reason: 'sandbox_failed' | 'worker_lost' | 'shutdown' | 'lease_expired' | 'superseded'
    readonly spends_attempt: boolean
    /** The sandbox's step that failed, and its message. */
    readonly step?: string
    readonly message?: string
  }
  readonly 'execution.abandoned': { readonly losses: number }
}
