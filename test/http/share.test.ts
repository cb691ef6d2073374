// How much of a scarce resource an account may have, depending on how much is free. The memory of answers that clients do not
// take is bounded: the key that holds most loses its oldest answer.
import { EventEmitter } from 'node:events'
import type { Response } from 'polka'
import t from 'tap'
import { createUnsentAnswers } from '../../src/http/answer.ts'
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
  const told = ['a', 'b', 'c'].map((account) => takeAll(shares, account))
  t.strictSame(told, [1667, 1111, 741])
  t.equal(shares.refuse('a', 1), 'share')
  t.equal(shares.refuse('d', 1), null)
})

t.test('the little that is everybody’s is had until there is no more', async (t) => {
  const shares = createShares(5, 3)
  const told = ['a', 'b', 'c'].map((account) => takeAll(shares, account))
  t.strictSame(told, [3, 2, 0])
  t.equal(shares.refuse('a', 1), 'share')
  t.equal(shares.refuse('c', 1), 'full')
  shares.add('a', -2)
  t.equal(takeAll(shares, 'c'), 2)
})

const mebibyte = 1024 * 1024

class Pretended extends EventEmitter {
  destroyed = false
  destroy(): void {
    this.destroyed = true
    this.emit('close')
  }
}

const open = (): Pretended & Response => new Pretended() as Pretended & Response

t.test('beyond the bound the oldest answer of the key that holds most is broken off', async (t) => {
  const note = createUnsentAnswers(3 * mebibyte)
  const [quiet, ...greedy] = [open(), open(), open(), open()]
  note(quiet, 'quiet', Buffer.alloc(mebibyte))
  for (const response of greedy) note(response, 'greedy', Buffer.alloc(mebibyte))
  const destroyed = [quiet, ...greedy].map(({ destroyed }) => destroyed)
  t.strictSame(destroyed, [false, true, false, false])
})

t.test('those that share their bytes hold them once; what was taken counts no more', async (t) => {
  const note = createUnsentAnswers(2 * mebibyte)
  const shared = Buffer.alloc(mebibyte)
  const watchers = Array.from({ length: 100 }, open)
  for (const response of watchers) note(response, 'one', shared)
  const taken = open()
  note(taken, 'other', Buffer.alloc(mebibyte))
  taken.emit('close')
  const next = open()
  note(next, 'other', Buffer.alloc(mebibyte))
  t.notOk([...watchers, taken, next].some(({ destroyed }) => destroyed))
})

t.test('an answer to a client that has gone counts for nobody', async (t) => {
  const note = createUnsentAnswers(2 * mebibyte)
  for (let n = 0; n < 3; n += 1) {
    const closed = open()
    closed.destroy()
    note(closed, 'gone', Buffer.alloc(mebibyte))
  }
  const waiting = [open(), open()]
  for (const response of waiting) note(response, 'here', Buffer.alloc(mebibyte))
  t.notOk(waiting.some(({ destroyed }) => destroyed))
})
