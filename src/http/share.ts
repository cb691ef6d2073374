// Divides among accounts what a process has only so much of: streams, bytes of bodies that arrive. An account may have half as
// much as is free, and never less than a little: one that takes all it may leaves two thirds to others, three leave two fifths,
// and whoever is alone is not held to a share that nobody else needs.

/** Too much for this account, while others are served; or more than there is. */
export type Refusal = 'share' | 'full'

export interface Shares {
  /** Why the account may not have so much more; null: it may. Nothing is taken by asking. */
  refuse(accountId: string, amount: number): Refusal | null
  /** @param amount below 0: it is released. */
  add(accountId: string, amount: number): void
}

/** @param least of an account, as long as there is as much. */
export function createShares(most: number, least: number): Shares {
  let used = 0
  const byAccount = new Map<string, number>()
  return {
    refuse(accountId, amount) {
      const free = most - used
      const own = (byAccount.get(accountId) ?? 0) + amount
      if (own > Math.max(least, free / 2)) return 'share'
      return amount > free ? 'full' : null
    },
    add(accountId, amount) {
      used += amount
      const own = (byAccount.get(accountId) ?? 0) + amount
      if (own === 0) byAccount.delete(accountId)
      else byAccount.set(accountId, own)
    },
  }
}
