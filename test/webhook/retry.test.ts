// The retry schedule and the Retry-After header.
import t from 'tap'

import { assumeDatabase, readWorkerConfig } from '#config'
import { maxRetryAfterSeconds, nextAttemptDelay, parseRetryAfter } from '../../src/webhook/retry.ts'

/** The schedule of a worker that sets no other. */
const { WEBHOOK_SCHEDULE_SECONDS: schedule } = readWorkerConfig(assumeDatabase({}))

/** Returns the delay without a random part. */
function next(attempt: number, retryAfterSeconds: number | null = null): number | null {
  return nextAttemptDelay(attempt, { schedule, retryAfterSeconds, random: () => 0.5 })
}

t.test('the schedule is 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h, then nothing', async (t) => {
  const delays = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((attempt) => next(attempt))
  t.same(delays, [5, 300, 1800, 7200, 18_000, 36_000, 36_000, null, null])
})

t.test('jitter keeps every step within a fifth of itself and reaches both ends', async (t) => {
  for (const [index, step] of schedule.entries()) {
    const policy = { schedule, retryAfterSeconds: null }
    t.equal(nextAttemptDelay(index + 1, { ...policy, random: () => 0 }), step * 0.8)
    t.ok(
      nextAttemptDelay(index + 1, { ...policy, random: () => 1 - Number.EPSILON })! <= step * 1.2,
    )
    const delay = nextAttemptDelay(index + 1, policy)!
    t.ok(delay >= step * 0.8 && delay <= step * 1.2, `${delay} for ${step}`)
  }
})

t.test('Retry-After lengthens the wait, never shortens it, and is clamped', async (t) => {
  t.equal(next(1, 120), 120)
  t.equal(next(1, 1), 5)
  t.equal(next(1, null), 5)
  t.equal(next(1, 1e12), maxRetryAfterSeconds)
  t.equal(next(8, 120), null, 'it does not add attempts')
})

t.test('an own schedule is followed', async (t) => {
  const policy = { retryAfterSeconds: null, random: () => 0.5 }
  t.equal(nextAttemptDelay(2, { ...policy, schedule: [1, 2] }), 2)
  t.equal(nextAttemptDelay(3, { ...policy, schedule: [1, 2] }), null)
  t.equal(nextAttemptDelay(1, { ...policy, schedule: [] }), null)
})

// A date without a zone must not be read as local time, so local time differs from UTC here.
process.env['TZ'] = 'Asia/Tokyo'

t.test('Retry-After is read as seconds or as any of the three date forms', async (t) => {
  const now = Date.UTC(1994, 10, 6, 8, 48, 37)
  t.equal(parseRetryAfter('120', now), 120)
  t.equal(parseRetryAfter(' 7 ', now), 7)
  t.equal(parseRetryAfter('0', now), 0)
  t.equal(parseRetryAfter('Sun, 06 Nov 1994 08:49:37 GMT', now), 60)
  t.equal(parseRetryAfter('Sunday, 06-Nov-94 08:49:37 GMT', now), 60)
  t.equal(parseRetryAfter('Sun Nov  6 08:49:37 1994', now), 60)
  t.equal(parseRetryAfter('Sun, 06 Nov 1994 08:00:00 GMT', now), 0, 'a date that has passed')
  t.equal(parseRetryAfter('9'.repeat(500), now), maxRetryAfterSeconds)
  t.equal(parseRetryAfter('Sun, 06 Nov 2094 08:49:37 GMT', now), maxRetryAfterSeconds)
})

t.test('Retry-After that is neither is ignored', async (t) => {
  for (const value of [
    undefined,
    '',
    '-1',
    '1.5',
    '1e9',
    'soon',
    '2026-01-01',
    '0x10',
    'Sun, 99 Nov 1994 99:99:99 GMT',
  ]) {
    // prettier-ignore
    t.equal(parseRetryAfter(value), null, String(value))
  }
})
