// Computes when a failed delivery is tried again.

/** The longest wait that `Retry-After` can cause: the longest step of the usual schedule. */
export const maxRetryAfterSeconds = 36_000

/** The share by which steps vary at random, to spread deliveries that failed together. */
const jitter = 0.2

interface RetryPolicy {
  /** Seconds before the 2nd, 3rd, … attempt. */
  readonly schedule: readonly number[]
  /** The receiver's last `Retry-After`. */
  readonly retryAfterSeconds: number | null
  /** From 0 inclusive to 1 exclusive; Math.random when left out. */
  readonly random?: () => number
}

/**
 * Returns the seconds until the next attempt, or null when the schedule is spent. `Retry-After` only lengthens the wait, to
 * `maxRetryAfterSeconds` at most.
 * @param attempt how many attempts were made, from 1.
 */
export function nextAttemptDelay(
  attempt: number,
  { schedule, retryAfterSeconds, random = Math.random }: RetryPolicy,
): number | null {
  const step = schedule[attempt - 1]
  if (step === undefined) return null
  const delaySeconds = step * (1 + jitter * (2 * random() - 1))
  return Math.max(delaySeconds, Math.min(retryAfterSeconds ?? 0, maxRetryAfterSeconds))
}

/**
 * Reads seconds or the three date forms of RFC 9110 §5.6.7. Returns 0 to `maxRetryAfterSeconds`; null for anything
 * else.
 */
export function parseRetryAfter(
  value: string | undefined,
  nowMilliseconds: number = Date.now(),
): number | null {
  const text = value?.trim() ?? ''
  if (/^\d+$/.test(text)) return clamp(Number(text))
  // asctime has no zone; Date.parse would take it for local time.
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
