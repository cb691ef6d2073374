// webhook.*: the attempts to deliver the result of one submission, or of a batch. Each webhook has a separate stream.
//
//   webhook.attempt_failed … ──▶ webhook.delivered
//              │                 webhook.abandoned
//              ▲                        │
//        webhook.replayed ◀─────────────┘   (by an operator, after either end)

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
