// tier.*: what keys may use, by operators.

export interface TierDefined {
  readonly type: 'tier.defined'
  /** What was set; null is without a limit. */
  readonly data: {
    readonly name: string
    /** In any 60 seconds, per key. */
    readonly requests_per_minute?: number | null
    /** At once, per key. */
    readonly concurrent_executions?: number | null
    /** The most that a submission may ask for; those that are left out stay. */
    readonly limits?: object
    /** The most that an account may have in blobs. */
    readonly blob_bytes?: number | null
    /** How many times an account's share of the slots that of weight 1 is. */
    readonly weight?: number
    /** What a submission may run in all, by the clock. */
    readonly total_seconds?: number
    /** The most that is kept in a day of what an account's runs write. */
    readonly output_bytes?: number | null
    /** That a box may use at once; null: its slot's share of the worker's. */
    readonly cores?: number | null
    /** The most submissions that a batch may hold. */
    readonly batch_items?: number
  }
}

export type TierEvent = TierDefined
