// A runner that was stopped keeps its slots until its programs have ended. The next runner's programs wait in order.
import t from 'tap'
import { createSlots } from '../../../src/job/queue/slots.ts'

t.test('so many at once, and the others in the order in which they came', async (t) => {
  const inSlot = createSlots(2)
  const begun: number[] = []
  const ends = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
  const works = ends.map(({ promise }, n) =>
    inSlot(() => {
      begun.push(n)
      return promise
    }),
  )
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  await settle()
  t.strictSame(begun, [0, 1])
  ends[1]?.resolve()
  await settle()
  t.strictSame(begun, [0, 1, 2])
  ends[0]?.reject(new Error('failed'))
  await t.rejects(works[0] ?? Promise.resolve(), { message: 'failed' })
  await settle()
  t.strictSame(begun, [0, 1, 2, 3], 'a failure frees its slot')
  for (const { resolve } of ends) resolve()
  await Promise.all(works.slice(1))
  t.strictSame(begun, [0, 1, 2, 3, 4])
})
