// webhook.*: the attempts to deliver one submission's result, in a stream of their own.

export interface WebhookAttemptFailed {
  readonly type: 'webhook.attempt_failed'
  readonly data: WebhookAttempt & { readonly next_attempt_at: string | null }
}

export interface WebhookDelivered {
  readonly type: 'webhook.delivered'
  readonly data: WebhookAttempt
}

export interface WebhookAbandoned {
  readonly type: 'webhook.abandoned'
  readonly data: { readonly attempts: number; readonly reason: 'schedule_spent' | 'gone' }
}

/** One attempt as it went. */
export interface WebhookAttempt {
  readonly submission: string
  /** 1, 2, … */
  readonly attempt: number
  /** What became of it, such as `delivered`, `rejected`, `unreachable`, `forbidden`. */
  readonly outcome: string
  /** The receiver's HTTP status; null when there was no answer. */
  readonly status: number | null
  readonly duration_seconds: number
  /** The first bytes of the receiver's answer, or why there was none. */
  readonly snippet: string
}

export type WebhookEvent = WebhookAttemptFailed | WebhookDelivered | WebhookAbandoned
