// Limits the streams that a web process has open: in all, for an account, and for a key with a rate limit.
import type { Response } from 'polka'
import { Problem } from '#error'
import { noRoom } from './problem.ts'
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

export interface StreamLimiter {
  /**
   * Admits a stream, which counts until the response is closed.
   * @throws {Problem} when the process, the account or the key has as many streams as it may.
   */
  admit(request: ApiRequest, response: Response): void
}

interface Admitted {
  readonly key: string
  readonly accountId: string
  readonly at: number
}

export function createStreamLimiter({
  openMost,
  openPerKeyMost,
  longestMilliseconds,
}: StreamBounds): StreamLimiter {
  const all = new Set<Admitted>()
  const shares = createShares(openMost, openPerKeyMost)

  function tooMany(message: string, oldest: Admitted | undefined): Problem {
    const left = (oldest?.at ?? 0) + longestMilliseconds - performance.now()
    // The oldest stream ends by then at the latest.
    const seconds = Math.max(1, Math.ceil(left / 1000))
    return new Problem('rate_limited', message, { headers: { 'Retry-After': String(seconds) } })
  }

  return {
    admit({ caller: { apiKeyId: key, accountId, rate } }, response) {
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
      if (refusal === 'full') throw noRoom('Too many streams are open.')
      if (response.destroyed) return
      const admitted = { key, accountId, at: performance.now() }
      all.add(admitted)
      shares.add(accountId, 1)
      response.once('close', () => {
        all.delete(admitted)
        shares.add(accountId, -1)
      })
    },
  }
}
