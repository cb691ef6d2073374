// Limits the streams that a web process has open: in all, for an account, and for a key with a rate limit.
import type { Response } from 'polka'
import type { Problem } from '#error'
import { retryAfter } from './problem.ts'
import type { ApiRequest } from './request.ts'
import { createShares } from './share.ts'

export interface StreamBounds {
  readonly openMost: number
  /** The limit of a key with a rate limit. An account may have at least as many, and more while many are free. */
  readonly openPerKeyMost: number
  readonly commentMilliseconds: number
  /** How long sent bytes may wait until the client takes them. */
  readonly slowReaderMilliseconds: number
  readonly longestMilliseconds: number
}

export const usualBounds: StreamBounds = {
  // A stream takes about 30 KB, and one row in a statement once a second.
  openMost: 5000,
  openPerKeyMost: 100,
  commentMilliseconds: 15_000,
  slowReaderMilliseconds: 15_000,
  // After this time the client reconnects, so that its key is checked again.
  longestMilliseconds: 15 * 60_000,
}

/**
 * Admits a stream, which counts until the response is closed.
 * @throws {Problem} when the process, the account or the key has as many streams as it may.
 */
export type AdmitStream = (request: ApiRequest, response: Response) => void

export function createStreamLimiter({
  openMost,
  openPerKeyMost,
  longestMilliseconds,
}: StreamBounds): AdmitStream {
  const all = new Set<{ readonly key: string; readonly accountId: string; readonly at: number }>()
  const shares = createShares(openMost, openPerKeyMost)

  function tooMany(message: string, oldest: { readonly at: number } | undefined): Problem {
    const left = (oldest?.at ?? 0) + longestMilliseconds - performance.now()
    // The oldest stream ends by then at the latest.
    return retryAfter('rate_limited', message, Math.max(1, Math.ceil(left / 1000)))
  }

  return ({ caller: { apiKeyId: key, accountId, rate } }, response) => {
    const ofKey = all
      .values()
      .filter((one) => one.key === key)
      .toArray()
    if (rate !== null && ofKey.length >= openPerKeyMost)
      throw tooMany(
        `This key has ${openPerKeyMost} streams open here, which is its limit: close one first.`,
        ofKey[0],
      )
    const refusal = shares.refuse(accountId, 1)
    if (refusal === 'share')
      throw tooMany(
        'This account has as many open streams here as it may have while other accounts need some: close one first.',
        all.values().find((one) => one.accountId === accountId),
      )
    if (refusal === 'full')
      throw retryAfter('unavailable', 'Too many streams are open. Try again shortly.')
    if (response.destroyed) return
    const admitted = { key, accountId, at: performance.now() }
    all.add(admitted)
    shares.add(accountId, 1)
    response.once('close', () => {
      all.delete(admitted)
      shares.add(accountId, -1)
    })
  }
}
