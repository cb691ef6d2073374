// submission.*: what a caller sent, without the bytes. batch.*: a batch that has a webhook. A batch has a separate stream;
// the events of its submissions are in the submissions' streams. webhook.*: the attempts to deliver the result of one submission,
// or of a batch. Each webhook has a separate stream:
//
//   webhook.attempt_failed … ──▶ webhook.delivered
//              │                 webhook.abandoned
//              ▲                        │
//        webhook.replayed ◀─────────────┘   (by an operator, after either end)
import { hash } from 'node:crypto'
import type { Language } from '#language'
import type { ExecutionEvents } from './execution.ts'

/** The digest of a body. The body's bytes are in runledger.body. */
export interface BodyDigest {
  /** Hexadecimal. */
  readonly sha256: string
  readonly bytes: number
}

/** The delivery's stream and receiver. The URL may hold secrets, so it is stored as a body. */
interface WebhookReceiver {
  readonly id: string
  readonly host: string
}

/** The form of a webhook that is not a Standard Webhook: a PUT of Judge0's fields, without a signature. */
export type WebhookFormat = 'judge0'

export interface SubmissionEvents {
  readonly 'submission.received': {
    readonly account: string
    readonly api_key: string
    readonly language: Language
    readonly code: BodyDigest
    readonly stdin: BodyDigest
    readonly expected_stdout: BodyDigest | null
    /** The digest of the other options of the request, if there are any. */
    readonly detail?: BodyDigest
    /** The capabilities that the submission requires, of those that not every worker has. */
    readonly demands?: readonly string[]
    /** The first of the blobs that the submission names, each once. */
    readonly blobs?: readonly BodyDigest[]
    /** The digest of the list of all named blobs; the list itself is a body. */
    readonly blob_list?: BodyDigest
    /** The limits that the submission requests, by phase, with the names of execution.started. */
    readonly limits?: object
    /** The language of the checker or interactor program. The worker that runs the submission must offer it too. */
    readonly checker_language?: Language
    readonly tag?: string
    /** The submission waits until no submission of normal priority waits. */
    readonly priority?: 'low'
    readonly output_encoding?: 'base64'
    /** The original submission that this one repeats. */
    readonly rerun_of?: string
    /** The campaign of an operator's mass rerun. */
    readonly campaign?: string
    /** The stream of the submission's batch, if the batch has a webhook. */
    readonly batch?: string
    readonly webhook: (WebhookReceiver & { readonly format?: WebhookFormat }) | null
  }
  /** The attempt that is running when the caller cancels. Its worker must end it. */
  readonly 'submission.cancel_requested': {
    readonly attempt: number
    readonly run: string
    readonly worker: string
  }
  /** What the attempt had done; empty when no attempt was running. `lost`: why its outcome is not known. */
  readonly 'submission.cancelled': Partial<
    Omit<ExecutionEvents['execution.completed'], 'verdict'>
  > & { readonly lost?: ExecutionEvents['execution.interrupted']['reason'] }
  /** caller: the account that submitted it requested the purge. */
  readonly 'submission.purged': { readonly reason: 'retention' | 'caller' }
  readonly 'batch.received': {
    readonly account: string
    readonly api_key: string
    readonly webhook: WebhookReceiver
    /** The batch's members: the accepted items, in their order. */
    readonly submissions: readonly string[]
  }
}

/** `gone`: the receiver answered 410. */
export const abandonReasons = ['schedule_spent', 'gone'] as const
export type AbandonReason = (typeof abandonReasons)[number]

/** The submission or batch that the webhook belongs to. */
export type WebhookSubject = { readonly submission: string } | { readonly batch: string }

export type WebhookAttempt = WebhookSubject & {
  /** 1, 2, … over the whole stream. */
  readonly attempt: number
  /**
   * `delivered`, `gone`, `refused`, `unreachable`, `forbidden` (webhook/send.ts), or `internal`: the service failed to make
   * the attempt.
   */
  readonly outcome: string
  /** The receiver's HTTP status; null without an answer. */
  readonly status: number | null
  readonly duration_seconds: number
  /** The start of the answer's body, or the reason why there was no answer. */
  readonly snippet: string
}

export interface WebhookEvents {
  /** `next_attempt_at`: RFC 3339 in UTC; null after the last. */
  readonly 'webhook.attempt_failed': WebhookAttempt & { readonly next_attempt_at: string | null }
  readonly 'webhook.delivered': WebhookAttempt
  readonly 'webhook.abandoned': { readonly attempts: number; readonly reason: AbandonReason }
  /** The schedule begins again. The numbers of attempts continue. */
  readonly 'webhook.replayed': WebhookSubject
}

export function digestBody(body: Uint8Array): BodyDigest {
  return { sha256: hash('sha256', body, 'hex'), bytes: body.byteLength }
}
