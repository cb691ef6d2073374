// Asking for a job only where there may be one: what is known of the queue, and what is not.
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createOutlook } from '../../src/job/outlook.ts'

const nothing = async (): Promise<null> => null
const job = async (): Promise<string> => 'a job'

t.test('who has found nothing need not ask until something is announced', async (t) => {
  const outlook = createOutlook()
  t.ok(outlook.isWorthAsking, 'nothing is known at first')
  await outlook.learnFrom(nothing)
  t.notOk(outlook.isWorthAsking)
  outlook.noteAnnounced(2)
  t.ok(outlook.isWorthAsking)
  t.equal(await outlook.learnFrom(job), 'a job')
  t.ok(outlook.isWorthAsking, 'one of two is left')
  await outlook.learnFrom(job)
  t.notOk(outlook.isWorthAsking)
})

t.test('as long as nobody has found it empty there may be more', async (t) => {
  const outlook = createOutlook()
  await outlook.learnFrom(job)
  await outlook.learnFrom(job)
  t.ok(outlook.isWorthAsking)
})

t.test('what is announced while another asks is not taken for gone', async (t) => {
  const outlook = createOutlook()
  await outlook.learnFrom(nothing)
  for (const announce of [() => outlook.noteAnnounced(1), () => outlook.noteAnnounced()]) {
    const asked = Promise.withResolvers<null>()
    const asking = outlook.learnFrom(() => asked.promise)
    announce()
    asked.resolve(null)
    await asking
    t.ok(outlook.isWorthAsking)
    await outlook.learnFrom(nothing)
    t.notOk(outlook.isWorthAsking)
  }
})

t.test('who finds what nobody announced asks on until there is nothing', async (t) => {
  const outlook = createOutlook()
  await outlook.learnFrom(nothing)
  for (let left = 3; left > 0; left -= 1) {
    await outlook.learnFrom(job)
    t.ok(outlook.isWorthAsking)
  }
  await outlook.learnFrom(nothing)
  t.notOk(outlook.isWorthAsking)
})

t.test('what others took is asked for once', async (t) => {
  const outlook = createOutlook()
  await outlook.learnFrom(nothing)
  outlook.noteAnnounced(5)
  await outlook.learnFrom(nothing)
  t.notOk(outlook.isWorthAsking)
})

t.test('an ask that fails leaves everything as it was', async (t) => {
  const outlook = createOutlook()
  await outlook.learnFrom(nothing)
  outlook.noteAnnounced(1)
  await t.rejects(outlook.learnFrom(() => Promise.reject(new Error('away'))))
  t.ok(outlook.isWorthAsking)
})

t.test('announcements do not hide for long what nobody announced', async (t) => {
  const outlook = createOutlook()
  await outlook.learnFrom(nothing)
  const until = performance.now() + 1100
  while (performance.now() < until) {
    outlook.noteAnnounced(1)
    await outlook.learnFrom(job)
    await delay(50)
  }
  t.ok(outlook.isWorthAsking)
})

t.test('what nobody announced is looked for after a while all the same', async (t) => {
  const outlook = createOutlook()
  await outlook.learnFrom(nothing)
  t.notOk(outlook.isWorthAsking)
  await delay(1100)
  t.ok(outlook.isWorthAsking)
})
