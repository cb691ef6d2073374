// Limits each account's share of the resident compilers. If an account's sources take long or end a compiler, its next sources
// are compiled in boxes for a while. So an account can delay others only for moments, and cannot block a compiler.

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

export interface Turns {
  /** Returns whether a source of the account may go to a resident compiler. */
  may(account: string): boolean
  /** Charges the account for a source. @param cpuSeconds null when the source ended the compiler. */
  took(account: string, cpuSeconds: number | null): void
}

/** @param now a clock in seconds. */
export function createTurns(now: () => number = () => performance.now() / 1000): Turns {
  /** The time at which each account's charges are paid off; in the past when it owes nothing. */
  const paidAt = new Map<string, number>()
  return {
    may: (account) => (paidAt.get(account) ?? 0) <= now() + burstSeconds / share,
    took(account, cpuSeconds) {
      const charged = cpuSeconds ?? failureSeconds
      if (charged <= quickSeconds) return
      const from = now()
      for (const [other, time] of paidAt) if (time <= from) paidAt.delete(other)
      paidAt.set(account, Math.max(paidAt.get(account) ?? 0, from) + charged / share)
    },
  }
}
