// Events: what happened to submissions, batches, webhooks, keys, tiers and workers, as facts that are only ever added.
//
// A submission's stream (its id):
//
//   submission.received ──▶ execution.started ──▶ execution.completed            (completed)
//                             ▲         │
//                             │         ▼
//                    queued again ◀── execution.interrupted ──▶ execution.abandoned    (failed, verdict IE)
//
// - received: stored, and queued unless its key is at its limit. The 202 follows once this is on disk; a waiting caller
//   gets the result, once all before it is on disk.
// - started: an attempt. This event's version and the attempt's id (`run`) are its fencing token: the next event must
//   take the next version, so of two attempts at most one can end.
// - completed: the program's fate is known, even a crash.
// - interrupted: we lost the attempt (sandbox, worker, shutdown). `spends_attempt` says whether it counts.
// - abandoned: the third loss that counts. Only this is a failure, and it is ours.
// - submission.cancelled: its caller took it back. What does not run ends so at once. What runs is first asked to, by
//   submission.cancel_requested in the place where its end would stand: whichever is there first decides. Behind it
//   nothing but submission.cancelled follows, with what the program had done, or with `lost` if that is not known.
// - submission.purged may follow: the bodies are gone, the log stays.
//
// A webhook has its own stream, so that deliveries never contend with the submission.
//
// Names are <noun>.<past participle> and never reused. Events are written in the latest shape and never rewritten; what a
// newer release wrote is passed through.
export * from './submission.ts'
export * from './execution.ts'
export * from './webhook.ts'
export * from './operator.ts'
export * from './stream.ts'
export { compareHeads, parseHeads, readHeads } from './heads.ts'
export { findLacks, listStreamHeads, parseStreamHead } from './stream-heads.ts'
export type { StreamHead } from './stream-heads.ts'
export { checkLedger, verify, verifyAll } from './verify.ts'
import type { ExecutionEvent } from './execution.ts'
import type { ApiKeyEvent, TierEvent, WorkerEvent } from './operator.ts'
import type { BatchEvent, SubmissionEvent } from './submission.ts'
import type { WebhookEvent } from './webhook.ts'

/** Any event as it is written today. */
export type Event =
  | SubmissionEvent
  | BatchEvent
  | ExecutionEvent
  | WebhookEvent
  | ApiKeyEvent
  | TierEvent
  | WorkerEvent

/** Of every type. The first to differ gets a constant of its own, and a step from the older shape in stream.ts. */
export const schemaVersion = 1

export interface Metadata {
  /** The HTTP request's id. */
  readonly request?: string
  readonly actor:
    | { readonly api_key: string }
    | { readonly worker: string }
    | { readonly operator: string }
    /** Sent to the worker's process, such as `SIGTSTP`. */
    | { readonly signal: string }
    | { readonly retention: string }
    /** The lost worker whose run was requeued; by the sweep or the reconciler of whichever process. */
    | { readonly sweep_of: string }
}
