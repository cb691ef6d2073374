// webhook.*: the attempts to deliver the result of one submission, or of a batch. Each webhook has a separate stream.
//
//   webhook.attempt_failed … ──▶ webhook.delivered
//              │                 webhook.abandoned
//              ▲                        │
//        webhook.replayed ◀─────────────┘   (by an operator, after either end)

interface WebhookAttemptFailed {
  readonly type: 'webhook.attempt_failed'
  /** `next_attempt_at`: RFC 3339 in UTC; null after the last. */
  readonly data: WebhookAttempt & { readonly next_attempt_at: string | null }
}

interface WebhookDelivered {
  readonly type: 'webhook.delivered'
  readonly data: WebhookAttempt
}

/** `gone`: the receiver answered 410. */
export const abandonReasons = ['schedule_spent', 'gone'] as const
export type AbandonReason = (typeof abandonReasons)[number]

interface WebhookAbandoned {
  readonly type: 'webhook.abandoned'
  readonly data: { readonly attempts: number; readonly reason: AbandonReason }
}

/** The schedule begins again. The numbers of attempts continue. */
interface WebhookReplayed {
  readonly type: 'webhook.replayed'
  readonly data: WebhookSubject
}

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

export type WebhookEvent =
  WebhookAttemptFailed | WebhookDelivered | WebhookAbandoned | WebhookReplayed
