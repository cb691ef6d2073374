// Bounds what bodies hold in memory while they arrive, over all callers and for each account: who sends slowly keeps others
// waiting no more than that.
import { Problem } from '#error'
import { createShares } from './share.ts'
import type { Refusal } from './share.ts'

/** Of all that arrive at once. */
const arrivingBytes = 128 * 1024 * 1024
/** Of any account: two of the largest. */
const accountBytes = 4 * 1024 * 1024

/** Those of this process. */
const arriving = createShares(arrivingBytes, accountBytes)

interface BodyRoom {
  /** @param bytes in all; fewer than it has are no change. @throws {Problem} */
  grow(bytes: number): void
  leave(): void
}

/** Nothing is taken yet. */
export function takeBodyRoom(accountId: string): BodyRoom {
  let taken = 0
  return {
    grow(bytes) {
      const more = bytes - taken
      if (more <= 0) return
      const refusal = arriving.refuse(accountId, more)
      if (refusal !== null) throw noRoom(refusal)
      arriving.add(accountId, more)
      taken = bytes
    },
    leave: () => arriving.add(accountId, -taken),
  }
}

function noRoom(refusal: Refusal): Problem {
  const headers = { 'Retry-After': '1' }
  return refusal === 'share'
    ? new Problem(
        'rate_limited',
        'Bodies of this account that arrive at this moment hold as much as they may. Try again shortly.',
        { headers },
      )
    : new Problem('unavailable', 'Too much arrives at this moment. Try again shortly.', { headers })
}
