// How many streams a web process has open: of all, of an account, of a key with a rate limit.
import type { Response } from 'polka'
import { Problem } from '#error'
import { noRoom } from './problem.ts'
import type { ApiRequest } from './request.ts'
import { createShares } from './share.ts'

export interface StreamBounds {
  readonly openMost: number
  /** Of a key with a rate limit; an account may have as many at the least, and more while many are free. */
  readonly openPerKeyMost: number
  readonly commentMilliseconds: number
  /** So long what was sent may wait to be taken. */
  readonly slowReaderMilliseconds: number
  readonly longestMilliseconds: number
}

export const usualBounds: StreamBounds = {
  // Each takes some 30 KB, and a line of a statement once a second.
  openMost: 5000,
  openPerKeyMost: 100,
  commentMilliseconds: 15_000,
  slowReaderMilliseconds: 15_000,
  // Then the client comes back, and its key is looked at again.
  longestMilliseconds: 15 * 60_000,
}

export interface StreamLimiter {
  /**
   * Admits a stream; its place is free again when the response is closed.
   * @throws {Problem} when the process, the account or the key has as many as it may.
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
    // At the latest.
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
          `This key has ${openPerKeyMost} streams open here, as many as it may.`,
          ofKey[0],
        )
      const refusal = shares.refuse(accountId, 1)
      if (refusal === 'share')
        throw tooMany(
          'This account has as many streams open here as it may while others need some.',
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
