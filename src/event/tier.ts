// tier.*: what keys may use, by operators.

export interface TierDefined {
  readonly type: 'tier.defined'
  /** The whole tier; null is without a limit. */
  readonly data: {
    readonly name: string
    readonly requests_per_minute: number | null
    readonly concurrent_executions: number | null
    /** Those that were set: the most that a submission may ask for. */
    readonly limits?: object
    /** If it was set: the most that an account may have in blobs. */
    readonly blob_bytes?: number | null
    /** When it was set. */
    readonly weight?: number
    /** When it was set: what a submission may run in all. */
    readonly total_seconds?: number
    /** If it was set: the most that is kept of an account's outputs in a day. */
    readonly output_bytes?: number | null
    /** If it was set: cores of a box; null: its slot's share of the worker's. */
    readonly cores?: number | null
  }
}

export type TierEvent = TierDefined
