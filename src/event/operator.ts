// Events of operators. api_key.*: a key's life; they never hold the key or its digest. tier.*: what keys may use.
// worker.*: commands to a worker process.

export interface ApiKeyEvents {
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

export interface TierEvents {
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

/** drained: the worker exits when its runs have finished. restarted: it then starts again under another id. */
export type WorkerEvents = Readonly<
  Record<`worker.${'paused' | 'resumed' | 'drained' | 'restarted'}`, { readonly host: string }>
>
