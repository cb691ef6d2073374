// Divides a limited resource of a process among accounts: open streams, or bytes of arriving bodies. An account may have half
// as much as is free, and always a small minimum. One account that takes all it may leaves two thirds to others; three such
// accounts leave two fifths. An account that is alone is not limited to an equal share that no other account needs.

export interface Shares {
  /**
   * Returns why the account may not have this amount more. share: too much for this account, while others are still served;
   * full: more than is free; null: it may have it. Takes nothing.
   */
  refuse(accountId: string, amount: number): 'share' | 'full' | null
  /** Takes an amount for the account. @param amount negative to release it. */
  add(accountId: string, amount: number): void
}

/** @param most for all accounts together. @param least for one account at any time, as long as it is free. */
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
