// What operators do. api_key.*: a key's life; never holds the key or its digest. tier.*: what keys may use. worker.*: commands to a
// worker process.

interface ApiKeyIssued {
  readonly type: 'api_key.issued'
  readonly data: {
    readonly account: string
    readonly tier: string
    readonly label: string
    readonly expires_at: string | null
    /** The key that this one replaces. */
    readonly replaces: string | null
    /** Left out for a key that submits. */
    readonly role?: 'operator'
    /** It looks alone; an operator's has it always. */
    readonly read_only?: boolean
    /** Left out for a key without one. */
    readonly name?: string
  }
}

interface ApiKeyRotated {
  readonly type: 'api_key.rotated'
  /** The old key works beside its successor until `works_until`. */
  readonly data: { readonly replaced_by: string; readonly works_until: string }
}

interface ApiKeyChanged {
  readonly type: 'api_key.changed'
  /** From now on. */
  readonly data: { readonly tier: string }
}

interface ApiKeyRevoked {
  readonly type: 'api_key.revoked'
  readonly data: Readonly<Record<string, never>>
}

export type ApiKeyEvent = ApiKeyIssued | ApiKeyRotated | ApiKeyChanged | ApiKeyRevoked

export interface TierEvent {
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

export interface WorkerEvent {
  /** drained: it ends when it has finished what it has; restarted: then it begins again, under another id. */
  readonly type: `worker.${'paused' | 'resumed' | 'drained' | 'restarted'}`
  readonly data: { readonly host: string }
}
