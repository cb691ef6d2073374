// batch.*: a batch with a webhook of its own, in a stream of its own. What becomes of its submissions stands in theirs.
import type { WebhookReceiver } from './submission.ts'

export interface BatchReceived {
  readonly type: 'batch.received'
  readonly data: {
    readonly account: string
    readonly api_key: string
    readonly webhook: WebhookReceiver
    /** Its members: the items that were accepted, in their order. */
    readonly submissions: readonly string[]
  }
}

export type BatchEvent = BatchReceived
