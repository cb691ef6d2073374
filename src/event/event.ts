// The events: everything that happens to a submission, a webhook, a key, a tier or a worker, as facts that are only ever added.
//
// A submission's stream (its id):
//
//   submission.received ──▶ execution.started ──▶ execution.completed            (completed)
//                             ▲         │
//                             │         ▼
//                    queued again ◀── execution.interrupted ──▶ execution.abandoned    (failed, verdict IE)
//
// - received: stored, and queued unless its key is at its limit. The 202 follows once this is on disk; who waits for the
//   result is told with that, and all before it is on disk by then.
// - started: one attempt on one worker. The version of this event and the attempt's id (`run`) are its fencing token: what
//   follows must stand at the next version, so of two attempts at most one can end.
// - completed: the program's fate is known, whatever it is. A program that crashes is completed.
// - interrupted: we lost the attempt (sandbox, worker, shutdown). `spends_attempt` says whether it counts.
// - abandoned: the third loss that counts. Only this is a failure, and it is ours.
// - submission.purged may follow the end: its bodies are gone, the log stays.
//
// A webhook's stream (an id of its own, so that deliveries never contend with the submission): webhook.attempt_failed …,
// then webhook.delivered or webhook.abandoned, and webhook.replayed where an operator asked for more. A key's stream:
// api_key.issued, .changed, .rotated, .revoked. A tier's: tier.defined, at each change. A worker's:
// worker.paused, .resumed, .drained, at each order.
//
// Names are <noun>.<past participle> and never reused. Written in the latest shape, which the compiler checks of what
// TypeScript writes; read tolerantly: older versions are brought up to date on the way (upcast.ts), what a newer release
// wrote is passed through.
export * from './submission.ts'
export * from './execution.ts'
export * from './webhook.ts'
export * from './api-key.ts'
export * from './tier.ts'
export * from './worker.ts'
export * from './stream.ts'
export * from './upcast.ts'
export { compareHeads, parseHeads, readHeads } from './heads.ts'
export type { Heads } from './heads.ts'
export { verifyChains } from './verify.ts'
export type { BrokenLink, Verification } from './verify.ts'
import type { ApiKeyEvent } from './api-key.ts'
import type { ExecutionEvent } from './execution.ts'
import type { SubmissionEvent } from './submission.ts'
import type { TierEvent } from './tier.ts'
import type { WebhookEvent } from './webhook.ts'
import type { WorkerEvent } from './worker.ts'

/** Any event that is written today: its type and data. */
export type Event =
  SubmissionEvent | ExecutionEvent | WebhookEvent | ApiKeyEvent | TierEvent | WorkerEvent

/** The version of every event type's data that is written today; the first type to differ gets a constant of its own. */
export const schemaVersion = 1

/** Who and what caused an event. */
export interface Metadata {
  /** The HTTP request's id. */
  readonly request?: string
  readonly actor:
    | { readonly api_key: string }
    | { readonly worker: string }
    | { readonly operator: string }
    /** Of the worker's process, such as `SIGTSTP`. */
    | { readonly signal: string }
    | { readonly retention: string }
}
