// How much of a scarce resource an account may have, depending on how much is free.
import t from 'tap'
import { createShares } from '../../src/http/share.ts'
import type { Shares } from '../../src/http/share.ts'

/** Takes as much as the account may have, one by one. @returns how much that is. */
function takeAll(shares: Shares, account: string): number {
  let taken = 0
  while (shares.refuse(account, 1) === null) {
    shares.add(account, 1)
    taken += 1
  }
  return taken
}

t.test('each account that takes all it may leaves more than that to others', async (t) => {
  const shares = createShares(5000, 100)
  t.strictSame(
    ['a', 'b', 'c'].map((account) => takeAll(shares, account)),
    [1667, 1111, 741],
  )
  t.equal(shares.refuse('a', 1), 'share')
  t.equal(shares.refuse('d', 1), null)
})

t.test('the little that is everybody’s is had until there is no more', async (t) => {
  const shares = createShares(5, 3)
  t.strictSame(
    ['a', 'b', 'c'].map((account) => takeAll(shares, account)),
    [3, 2, 0],
  )
  t.equal(shares.refuse('a', 1), 'share')
  t.equal(shares.refuse('c', 1), 'full')
  shares.add('a', -2)
  t.equal(takeAll(shares, 'c'), 2)
})
