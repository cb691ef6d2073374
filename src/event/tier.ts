// tier.*: what keys may use, as an operator made it and changed it.

export interface TierDefined {
  readonly type: 'tier.defined'
  /** All of it from now on; null is without a limit. */
  readonly data: {
    readonly name: string
    readonly requests_per_minute: number | null
    readonly concurrent_executions: number | null
  }
}

export type TierEvent = TierDefined
