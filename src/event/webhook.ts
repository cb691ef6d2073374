// webhook.*: the attempts to deliver one submission's result, in a stream of their own.
//
//   webhook.attempt_failed … ──▶ webhook.delivered
//              │                 webhook.abandoned
//              ▲                        │
//        webhook.replayed ◀─────────────┘   (an operator asks for it again; either end will do)

export interface WebhookAttemptFailed {
  readonly type: 'webhook.attempt_failed'
  /** `next_attempt_at`: RFC 3339 in UTC, by the database's clock; null when this was the last. */
  readonly data: WebhookAttempt & { readonly next_attempt_at: string | null }
}

export interface WebhookDelivered {
  readonly type: 'webhook.delivered'
  readonly data: WebhookAttempt
}

/**
 * Why it is not tried again: the schedule is spent; the receiver answered 410; the URL is one that we never send to,
 * whatever its name may resolve to later.
 */
export const abandonReasons = ['schedule_spent', 'gone', 'forbidden'] as const
export type AbandonReason = (typeof abandonReasons)[number]

export interface WebhookAbandoned {
  readonly type: 'webhook.abandoned'
  readonly data: { readonly attempts: number; readonly reason: AbandonReason }
}

/** An operator had it sent once more: the schedule begins anew, the numbers of the attempts go on. */
export interface WebhookReplayed {
  readonly type: 'webhook.replayed'
  readonly data: { readonly submission: string }
}

/** One attempt as it went. */
export interface WebhookAttempt {
  readonly submission: string
  /** 1, 2, … over the whole stream. */
  readonly attempt: number
  /**
   * What became of it: `delivered`, `gone`, `refused`, `unreachable` or `forbidden` (see webhook/send.ts), or `internal`:
   * we failed to make the attempt.
   */
  readonly outcome: string
  /** The receiver's HTTP status; null when there was no answer. */
  readonly status: number | null
  readonly duration_seconds: number
  /** The first bytes of the receiver's answer, or why there was none. */
  readonly snippet: string
}

export type WebhookEvent =
  WebhookAttemptFailed | WebhookDelivered | WebhookAbandoned | WebhookReplayed
