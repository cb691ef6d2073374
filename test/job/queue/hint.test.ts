// Asking for a job only where there may be one: what is known of the queue, and what is not.
import t from 'tap'
import { createQueueHint } from '../../../src/job/queue/hint.ts'
import { stopClock } from '../../helper/clock.ts'

const nothing = async (): Promise<null> => null
const job = async (): Promise<string> => 'a job'

let pass: ReturnType<typeof stopClock>
t.beforeEach((t) => void (pass = stopClock(t)))

t.test('who has found nothing need not ask until something is announced', async (t) => {
  const hint = createQueueHint()
  t.ok(hint.isWorthAsking, 'nothing is known at first')
  await hint.poll(nothing)
  t.notOk(hint.isWorthAsking)
  hint.noteAnnounced(2)
  t.ok(hint.isWorthAsking)
  t.equal(await hint.poll(job), 'a job')
  t.ok(hint.isWorthAsking, 'one of two is left')
  await hint.poll(job)
  t.notOk(hint.isWorthAsking)
})

t.test('as long as nobody has found it empty there may be more', async (t) => {
  const hint = createQueueHint()
  await hint.poll(job)
  await hint.poll(job)
  t.ok(hint.isWorthAsking)
})

t.test('what is announced while another asks is not taken for gone', async (t) => {
  const hint = createQueueHint()
  await hint.poll(nothing)
  for (const announce of [() => hint.noteAnnounced(1), () => hint.noteAnnounced()]) {
    const asked = Promise.withResolvers<null>()
    const asking = hint.poll(() => asked.promise)
    announce()
    asked.resolve(null)
    await asking
    t.ok(hint.isWorthAsking)
    await hint.poll(nothing)
    t.notOk(hint.isWorthAsking)
  }
})

t.test('who finds what nobody announced asks on until there is nothing', async (t) => {
  const hint = createQueueHint()
  await hint.poll(nothing)
  for (let left = 3; left > 0; left -= 1) {
    await hint.poll(job)
    t.ok(hint.isWorthAsking)
  }
  await hint.poll(nothing)
  t.notOk(hint.isWorthAsking)
})

t.test('what others took is asked for once', async (t) => {
  const hint = createQueueHint()
  await hint.poll(nothing)
  hint.noteAnnounced(5)
  await hint.poll(nothing)
  t.notOk(hint.isWorthAsking)
})

t.test('an ask that fails leaves everything as it was', async (t) => {
  const hint = createQueueHint()
  await hint.poll(nothing)
  hint.noteAnnounced(1)
  await t.rejects(hint.poll(() => Promise.reject(new Error('away'))))
  t.ok(hint.isWorthAsking)
})

t.test('announcements do not hide for long what nobody announced', async (t) => {
  const hint = createQueueHint()
  await hint.poll(nothing)
  for (let passed = 0; passed < 1000; passed += 50) {
    hint.noteAnnounced(1)
    await hint.poll(job)
    t.notOk(hint.isWorthAsking)
    pass(50)
  }
  t.ok(hint.isWorthAsking)
})

t.test('what nobody announced is looked for after a while all the same', async (t) => {
  const hint = createQueueHint()
  await hint.poll(nothing)
  pass(999)
  t.notOk(hint.isWorthAsking)
  pass(1)
  t.ok(hint.isWorthAsking)
})
