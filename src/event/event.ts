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
// - abandoned: after the third loss that counts, or after the first if the request itself makes every attempt fail. This is
//   the only failure, and it is the service's.
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
export * from './stream.ts'
export { compareHeads, parseHeads, readHeads } from './heads.ts'
export { checkLedger, verify, verifyAll } from './verify.ts'
import type { ExecutionEvents } from './execution.ts'
import type { SubmissionEvents, WebhookEvents } from './submission.ts'

/** api_key.*: a key's life. They never hold the key or its digest. */
interface ApiKeyEvents {
  readonly 'api_key.issued': {
    readonly account: string
    readonly tier: string
    readonly label: string
    readonly expires_at: string | null
    /** The key that this one replaces. */
    readonly replaces: string | null
    /** Left out for a key that may submit. */
    readonly role?: 'operator'
    /** Whether the key may only read. Always present for an operator's key. */
    readonly read_only?: boolean
    /** Left out for a key without a name. */
    readonly name?: string
  }
  /** The old key works beside its successor until `works_until`. */
  readonly 'api_key.rotated': { readonly replaced_by: string; readonly works_until: string }
  /** The key's tier from now on. */
  readonly 'api_key.changed': { readonly tier: string }
  readonly 'api_key.revoked': Readonly<Record<string, never>>
}

/** tier.*: what keys may use. */
interface TierEvents {
  /** What was set; null means unlimited. */
  readonly 'tier.defined': {
    readonly name: string
    /** The most requests in any 60 seconds, per key. */
    readonly requests_per_minute?: number | null
    /** The most executions at once, per key. */
    readonly concurrent_executions?: number | null
    /** The highest limits that a submission may request. Limits that are left out stay unchanged. */
    readonly limits?: object
    /** The most bytes that an account may have in blobs. */
    readonly blob_bytes?: number | null
    /** An account's share of the slots, as a multiple of the share of weight 1. */
    readonly weight?: number
    /** How long a submission may run in all, by the wall clock. */
    readonly total_seconds?: number
    /** The most output bytes of an account's runs that are kept in a day. */
    readonly output_bytes?: number | null
    /** How many cores a box may use at once; null: its slot's share of the worker's cores. */
    readonly cores?: number | null
    /** The most submissions that a batch may hold. */
    readonly batch_items?: number
  }
}

/**
 * worker.*: commands to a worker process. drained: the worker exits when its runs have finished. restarted: it then starts
 * again under another id.
 */
type WorkerEvents = Readonly<
  Record<`worker.${'paused' | 'resumed' | 'drained' | 'restarted'}`, { readonly host: string }>
>

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
    /** The lost worker whose run was requeued, by the sweep of any process. */
    | { readonly sweep_of: string }
}
