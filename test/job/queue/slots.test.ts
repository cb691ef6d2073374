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

t.test('who waits too long gives up, and its turn goes to the next', async (t) => {
  const inSlot = createSlots(1)
  const first = Promise.withResolvers<void>()
  const begun: string[] = []
  const running = inSlot(() => first.promise)
  const note = (name: string) => async () => void begun.push(name)
  const late = inSlot(note('late'), { milliseconds: 1, giveUp: note('given up') })
  const patient = inSlot(note('patient'))
  await late
  t.strictSame(begun, ['given up'])
  first.resolve()
  await Promise.all([running, patient])
  t.strictSame(begun, ['given up', 'patient'])
  await inSlot(note('next'), { milliseconds: 1, giveUp: note('given up') })
  t.strictSame(begun, ['given up', 'patient', 'next'], 'the slot is free again')
})
