// When a delivery that failed is tried again. Pure arithmetic, apart from the sending: the event log decides when, from
// the number of attempts it holds.

/** Seconds before the 2nd, 3rd, … 8th attempt: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h, as Standard Webhooks suggests. */
export const retryScheduleSeconds: readonly number[] = [5, 300, 1800, 7200, 18_000, 36_000, 36_000]

/** The longest wait that a receiver's `Retry-After` can ask for: the schedule's own longest step. */
export const maxRetryAfterSeconds = 36_000

/** How the next attempt's time is chosen; every field has a default. */
export interface RetryPolicy {
  /** Seconds before each further attempt; `retryScheduleSeconds` when left out. */
  readonly schedule?: readonly number[]
  /** The share by which a step varies, either way; 0.2 when left out. Keeps deliveries that failed together apart. */
  readonly jitter?: number
  /** What the receiver asked for with its last answer, in seconds. */
  readonly retryAfterSeconds?: number | null
  /** From 0 inclusive to 1 exclusive; Math.random when left out. */
  readonly random?: () => number
}

/**
 * Seconds until the next attempt, or null when the schedule is spent.
 * A `Retry-After` makes the wait longer, never shorter, and by no more than `maxRetryAfterSeconds` in all.
 * @param attempt how many attempts have been made: 1 after the first has failed.
 */
export function nextAttemptDelay(attempt: number, policy: RetryPolicy = {}): number | null {
  const { schedule = retryScheduleSeconds, jitter = 0.2, random = Math.random } = policy
  if (!Number.isInteger(attempt) || attempt < 1) {
    throw new RangeError(`attempt must be a whole number from 1, not ${attempt}`)
  }
  const step = schedule[attempt - 1]
  if (step === undefined) return null
  const delaySeconds = step * (1 + jitter * (2 * random() - 1))
  return Math.max(delaySeconds, Math.min(policy.retryAfterSeconds ?? 0, maxRetryAfterSeconds))
}

/**
 * Reads a `Retry-After` header: whole seconds, or any of the three date forms of RFC 9110 §5.6.7. Returns seconds from
 * `nowMilliseconds`, between 0 and `maxRetryAfterSeconds`, or null when it is absent or neither.
 */
export function parseRetryAfter(
  value: string | undefined,
  nowMilliseconds: number = Date.now(),
): number | null {
  const text = value?.trim() ?? ''
  if (/^\d+$/.test(text)) return clamp(Number(text))
  // asctime has no zone, and Date.parse would take it for local time.
  const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/.test(text)
  if (
    !asctime &&
    !/^[A-Z][a-z]{2,8}, \d\d[ -][A-Z][a-z]{2}[ -]\d{2,4} \d\d:\d\d:\d\d GMT$/.test(text)
  ) {
    return null
  }
  const milliseconds = Date.parse(asctime ? `${text} GMT` : text)
  return Number.isNaN(milliseconds) ? null : clamp((milliseconds - nowMilliseconds) / 1000)
}

function clamp(seconds: number): number {
  return Math.min(Math.max(seconds, 0), maxRetryAfterSeconds)
}
