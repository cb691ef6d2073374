// Events: what happened to submissions, batches, webhooks, keys, tiers and workers, as facts in an append-only log.
//
// A submission's stream (its id):
//
//   submission.received ──▶ execution.started ──▶ execution.completed            (completed)
//                             ▲         │
//                             │         ▼
//                    queued again ◀── execution.interrupted ──▶ execution.abandoned    (failed, verdict IE)
//
// - received: the submission is stored, and queued unless its key is at its limit. The 202 is sent once this event is on
//   disk. A caller that waits gets the result, once this event and all later ones up to the result are on disk.
// - started: an attempt begins. This event's version and the attempt's id (`run`) are the attempt's fencing token: the next
//   event must take the next version, so of two attempts at most one can end.
// - completed: the program's fate is known, even if it is a crash.
// - interrupted: the service lost the attempt (sandbox, worker, shutdown). `spends_attempt` says whether the loss counts.
// - abandoned: the third loss that counts. This is the only failure, and the service caused it.
// - submission.cancelled: the caller cancelled. A submission that does not run ends with this event at once. For a running
//   one, submission.cancel_requested is written first, at the version that its completion would take: the event that is
//   written first decides. After cancel_requested only submission.cancelled can follow, with what the program did until
//   then, or with `lost` if that is not known.
// - submission.purged may follow: the bodies are removed, the log remains.
//
// A webhook has a separate stream, so that deliveries never contend with the submission.
//
// Names are <noun>.<past participle> and are never reused. Events are written in the latest shape and never rewritten.
// Events that a newer release wrote are passed through.
export * from './submission.ts'
export * from './execution.ts'
export * from './webhook.ts'
export * from './operator.ts'
export * from './stream.ts'
export { compareHeads, parseHeads, readHeads } from './heads.ts'
export { findLacks, listStreamHeads, parseStreamHead } from './stream-heads.ts'
export type { StreamHead } from './stream-heads.ts'
export { checkLedger, verify, verifyAll } from './verify.ts'
import type { ExecutionEvents } from './execution.ts'
import type { ApiKeyEvents, TierEvents, WorkerEvents } from './operator.ts'
import type { SubmissionEvents } from './submission.ts'
import type { WebhookEvents } from './webhook.ts'

/** The data of each type of event, in the shape that this release writes. */
export type EventData = SubmissionEvents &
  ExecutionEvents &
  WebhookEvents &
  ApiKeyEvents &
  TierEvents &
  WorkerEvents

/**
 * The version of every event type's shape. The first type that changes gets a separate constant, and stream.ts a step that
 * converts the older shape.
 */
export const schemaVersion = 1

export interface Metadata {
  /** The HTTP request's id. */
  readonly request?: string
  readonly actor:
    | { readonly api_key: string }
    | { readonly worker: string }
    | { readonly operator: string }
    /** A signal sent to the worker's process, such as `SIGTSTP`. */
    | { readonly signal: string }
    | { readonly retention: string }
    /** The lost worker whose run was requeued, by the sweep or reconciler of any process. */
    | { readonly sweep_of: string }
}
