// No account has more than its share of a compiler that stays up: whose sources take long, or end it, has its next ones compiled in
// boxes for a while. So an account delays others by a moment now and then, and cannot keep a compiler from them.

/** Of the compiler's time, in seconds. Longer sources are charged; an account has a fifth of the time, and some of it at once. */
const quickSeconds = 0.05
const share = 0.2
const burstSeconds = 2

/** What one costs that ended the compiler: until the next is up and practised all others' sources take ten times as long. */
const failureSeconds = 100

export interface Turns {
  /** Whether a source of the account's may go to a compiler that stays. */
  may(account: string): boolean
  /** Its source took so long; null: the compiler has ended by it. */
  took(account: string, cpuSeconds: number | null): void
}

/** @param now a clock in seconds. */
export function createTurns(now: () => number = () => performance.now() / 1000): Turns {
  /** When what an account took will be paid; before now for those that owe nothing. */
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
