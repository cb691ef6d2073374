// Limits each account's share of the resident compilers. If an account's sources take long or end a compiler, its next sources
// are compiled in boxes for a while. Of several that wait for a compiler, the account that has used least comes first. So an
// account can delay others only for moments, and cannot block a compiler.

/**
 * CPU time of the compiler, in seconds. Only sources that take longer than `quickSeconds` are charged. An account may use a
 * fifth of the time, and `burstSeconds` at once.
 */
const quickSeconds = 0.05
const share = 0.2
const burstSeconds = 2

/**
 * The charge for a source that ended the compiler: until the next compiler is ready, all sources of others take ten times as
 * long.
 */
const failureSeconds = 100

export interface Shares {
  /** Returns whether a source of the account may go to a resident compiler. */
  mayUse(account: string): boolean
  /** Returns the compiler's time that the account has used beyond the time that went by since, in seconds. */
  usedBy(account: string): number
  /** Charges the account for a source. @param cpuSeconds null when the source ended the compiler. */
  charge(account: string, cpuSeconds: number | null): void
}

/** @param now a clock in seconds. */
export function createShares(now: () => number = () => performance.now() / 1000): Shares {
  /** The time at which each account's charges are paid off; in the past when it owes nothing. */
  const paidAt = new Map<string, number>()
  /** The same for every second that it used, quick sources too. */
  const usedUntil = new Map<string, number>()
  const add = (times: Map<string, number>, account: string, seconds: number): void => {
    const from = now()
    for (const [other, time] of times) if (time <= from) times.delete(other)
    times.set(account, Math.max(times.get(account) ?? 0, from) + seconds)
  }
  return {
    mayUse: (account) => (paidAt.get(account) ?? 0) <= now() + burstSeconds / share,
    usedBy: (account) => Math.max(0, (usedUntil.get(account) ?? 0) - now()),
    charge(account, cpuSeconds) {
      const charged = cpuSeconds ?? failureSeconds
      add(usedUntil, account, charged)
      if (charged > quickSeconds) add(paidAt, account, charged / share)
    },
  }
}
