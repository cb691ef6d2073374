// Resident boxes: an answer is accepted whole or not at all, whatever the program in the box does wrong, and no box is left
// behind. The program in the box is a small one that misbehaves on request.
import t from 'tap'
import type { Test } from 'tap'
import { encodeLayout } from '../../../src/executor/box/keeper/host-root.ts'
import { buildKeeper } from '../../../src/executor/box/keeper/build.ts'
import type { BoxResources } from '../../../src/executor/box/keeper/keeper.ts'
import { openCgroupParent } from '../../../src/executor/cgroup/cgroup.ts'
import { nameWorkerGroup } from '../../../src/executor/cgroup/worker-group.ts'
import { keepResidents } from '../../../src/executor/resident/pool.ts'
import type { ResidentPool, Retirement } from '../../../src/executor/resident/pool.ts'
import { startResident } from '../../../src/executor/resident/process.ts'
import type { Exchange, Resident } from '../../../src/executor/resident/process.ts'
import { assembleFilters } from '../../../src/executor/seccomp/seccomp.ts'
import {
  failsAt,
  findBoxProcesses,
  firstUid,
  keeperDirectory,
  timeFactor,
} from '../../helper/executor.ts'
import { until } from '../../helper/until.ts'

const resources: BoxResources = {
  cgroups: await openCgroupParent(nameWorkerGroup()),
  filters: assembleFilters(),
  programs: await buildKeeper(keeperDirectory),
  layout: encodeLayout(),
}
t.teardown(() => resources.cgroups.close())

/** Echoes each request. A request that names one of the deeds below makes the program do that deed. */
const program = `
import os, struct, sys, time
source, sink = sys.stdin.buffer, sys.stdout.buffer
def frame(body): return struct.pack('>I', len(body)) + body
def send(data): sink.write(data); sink.flush()
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
def later():
    send(frame(b'first')); time.sleep(1); send(frame(b'second'))
deeds = {
    b'die': lambda: os._exit(0),
    b'hang': lambda: time.sleep(1000),
    b'spin': lambda: spin(1000),
    b'work': lambda: (spin(0.5), send(frame(b'worked'))),
    b'half': lambda: (send(frame(b'whole')[:6]), time.sleep(1000)),
    b'half and die': lambda: (send(frame(b'whole')[:6]), os._exit(0)),
    b'two frames': lambda: send(frame(b'a') + frame(b'b')),
    b'too long': lambda: send(struct.pack('>I', 1 << 31)),
    b'later': later,
    b'eat': lambda: bytearray(1 << 30),
    b'complain': lambda: (sys.stderr.write('x' * (2 << 20)), time.sleep(1000)),
    b'fork': lambda: (os.fork() or time.sleep(1000)) and os._exit(0),
}
send(frame(b''))
while True:
    body = source.read(struct.unpack('>I', source.read(4))[0])
    deeds.get(body, lambda: send(frame(body)))()
`

let boxes = 0
const seconds = 3 * timeFactor

const never = new AbortController().signal

function start(code = program, signal = never, startSeconds = 30): Promise<Resident> {
  const described = {
    name: `resident-${(boxes += 1)}`,
    uid: process.getuid?.() === 0 ? firstUid : null,
    command: { argv: ['/usr/bin/python3', '-c', code], files: [], unlimitedStack: false },
    limits: { memoryBytes: 64 << 20, processes: 16, diskBytes: 1 << 20, cpuSeconds: 60 },
    startSeconds: startSeconds * timeFactor,
    answerBytes: 1 << 20,
  }
  return startResident(resources, described, signal)
}

/** Waits until no box process is left. A dying process is still visible for a moment after it has left its cgroup. */
async function expectNone(): Promise<void> {
  await until(() => findBoxProcesses().length === 0)
}

t.test('an answer comes back byte for byte, whatever its length', async (t) => {
  const resident = await start()
  for (const length of [0, 1, 4, 4096, 65_535, 65_536, 300_000]) {
    const request = Buffer.from(Array.from({ length }, (_, index) => index % 251))
    t.same((await resident.exchange(request, seconds))?.answer, request, `${length} bytes`)
  }
  resident.end()
  await resident.ended
})

const deeds = 'die|hang|spin|half|half and die|two frames|too long|eat|complain|fork'.split('|')
for (const deed of deeds) {
  t.test(`one that is asked to "${deed}" gives no answer and is gone`, async (t) => {
    const resident = await start()
    t.same((await resident.exchange(Buffer.from('fine'), seconds))?.answer, Buffer.from('fine'))
    t.equal(await resident.exchange(Buffer.from(deed), seconds), null)
    await resident.ended
    await expectNone()
    t.equal(await resident.exchange(Buffer.from('fine'), seconds), null, 'and stays so')
  })
}

t.test('one that speaks unasked is gone before its words count for the next request', async (t) => {
  const resident = await start()
  t.same((await resident.exchange(Buffer.from('later'), seconds))?.answer, Buffer.from('first'))
  await resident.ended
  t.equal(await resident.exchange(Buffer.from('fine'), seconds), null)
})

t.test('the figures of an exchange are its own', async (t) => {
  const resident = await start()
  const worked = await resident.exchange(Buffer.from('work'), 60)
  const echoed = await resident.exchange(Buffer.from('fine'), seconds)
  t.ok(worked && worked.usage.cpuSeconds >= 0.5 && worked.usage.wallSeconds >= 0.5)
  t.ok(echoed && echoed.usage.cpuSeconds < 0.25, `${echoed?.usage.cpuSeconds}`)
  t.ok(echoed && echoed.usage.memoryPeakBytes > 1 << 20)
  resident.end()
  await resident.ended
})

t.test('one that does not get ready says why, and nothing of it is left', async (t) => {
  await t.rejects(start('raise SystemExit("no mood")'), failsAt('resident.start', /no mood/))
  await t.rejects(
    start('import time; time.sleep(1000)', undefined, 1),
    failsAt('resident.start', /not ready after/),
  )
  await t.rejects(start('print("hello world")'), failsAt('resident.start'))
  const controller = new AbortController()
  const starting = start('import time; time.sleep(1000)', controller.signal)
  setTimeout(() => controller.abort(new Error('enough')), 100)
  await t.rejects(starting, { message: 'enough' })
  await t.rejects(start(program, controller.signal), { message: 'enough' })
  await expectNone()
})

const generous: Retirement = { exchanges: 1000, memoryBytes: 1 << 30 }

/** Opens a pool that is closed when its test ends. */
function openPool(
  t: Test,
  retirement = generous,
): { readonly pool: ResidentPool; readonly starts: () => number } {
  let starts = 0
  const startNext = (_position: number, signal: AbortSignal): Promise<Resident> => {
    starts += 1
    return start(program, signal)
  }
  const pool = keepResidents(1, startNext, retirement, () => {})
  t.teardown(() => pool.close())
  return { pool, starts: () => starts }
}

const ask = (pool: ResidentPool, text: string, signal = never): Promise<string | null> =>
  pool.ask(Buffer.from(text), seconds, ({ answer }) => answer.toString(), signal)

async function askUntilAnswered(pool: ResidentPool): Promise<void> {
  await until(async () => (await ask(pool, 'fine')) === 'fine')
}

t.test('before one is ready nobody waits', async (t) => {
  const { pool } = openPool(t)
  t.equal(await ask(pool, 'fine'), null)
  await askUntilAnswered(pool)
})

t.test('a pool says when its first is there, and when it cannot be had', async (t) => {
  const { pool } = openPool(t)
  await pool.settled()
  t.equal(await ask(pool, 'fine'), 'fine')
  const failures: unknown[] = []
  const without = keepResidents(
    2,
    () => Promise.reject(new Error('no room')),
    generous,
    (error) => failures.push(error),
  )
  await without.settled()
  t.equal(await ask(without, 'fine'), null)
  t.equal(failures.length, 2)
  await without.close()
})

t.test('one that dies is replaced', async (t) => {
  const { pool, starts } = openPool(t)
  await askUntilAnswered(pool)
  t.equal(await ask(pool, 'die'), null)
  await askUntilAnswered(pool)
  t.equal(starts(), 2)
})

t.test('one whose answer is refused is replaced', async (t) => {
  const { pool, starts } = openPool(t)
  await askUntilAnswered(pool)
  t.equal(await pool.ask(Buffer.from('fine'), seconds, () => null, never), null)
  await askUntilAnswered(pool)
  const nonsense = (): never => {
    throw new RangeError('nonsense')
  }
  t.equal(await pool.ask(Buffer.from('fine'), seconds, nonsense, never), null)
  await askUntilAnswered(pool)
  t.equal(starts(), 3)
})

t.test('one that has served its time is replaced', async (t) => {
  const { pool, starts } = openPool(t, { ...generous, exchanges: 25 })
  await askUntilAnswered(pool)
  while (starts() < 3) await askUntilAnswered(pool)
})

t.test(
  'requests at once are answered one by one, and none gets the answer of another',
  async (t) => {
    const { pool } = openPool(t)
    await askUntilAnswered(pool)
    const texts = Array.from({ length: 50 }, (_, index) => `text ${index}`)
    const answers = await Promise.all(texts.map((text) => ask(pool, text)))
    for (const [index, answer] of answers.entries())
      if (answer !== null) t.equal(answer, texts[index])
    t.ok(answers.filter((answer) => answer !== null).length > 0)
  },
)

t.test('who gives up is told so, and the next has an answer of its own', async (t) => {
  const { pool } = openPool(t)
  await askUntilAnswered(pool)
  const controller = new AbortController()
  const hanging = ask(pool, 'hang', controller.signal)
  setTimeout(() => controller.abort(new Error('enough')), 100)
  await t.rejects(hanging, { message: 'enough' })
  await t.rejects(ask(pool, 'fine', controller.signal), { message: 'enough' })
  await askUntilAnswered(pool)
})

t.test('a closed pool has no process and answers nobody', async (t) => {
  const { pool } = openPool(t)
  await askUntilAnswered(pool)
  const hanging = ask(pool, 'hang')
  await pool.close()
  t.equal(await hanging, null)
  await expectNone()
  t.equal(await ask(pool, 'fine'), null)
  const starting = openPool(t)
  await starting.pool.close()
  await expectNone()
})

/** Opens a pool of one resident that is a stand-in. */
const openStandIn = (resident: Promise<Resident>): ResidentPool =>
  keepResidents(
    1,
    () => resident,
    generous,
    () => {},
  )

/** Opens a pool of a stand-in that answers every request once `answer` is called. */
async function openSlow(): Promise<{ readonly pool: ResidentPool; readonly answer: () => void }> {
  const answered = Promise.withResolvers<Exchange>()
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const pool = openStandIn(Promise.resolve({ ended, exchange: () => answered.promise, end }))
  await pool.settled()
  const usage = { cpuSeconds: 0, wallSeconds: 0, memoryPeakBytes: 0, delaySeconds: 0 }
  return { pool, answer: () => answered.resolve({ answer: Buffer.from('fine'), usage }) }
}

t.test('one that comes up when its pool is being closed is ended too', async (t) => {
  const coming = Promise.withResolvers<Resident>()
  const pool = openStandIn(coming.promise)
  const closed = pool.close()
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  coming.resolve({ ended, exchange: () => Promise.resolve(null), end: resolve })
  await closed
  t.equal(await ask(pool, 'fine'), null)
})

t.test('who gives up while it waits is not charged, and ends nobody', async (t) => {
  const { pool, answer } = await openSlow()
  let lent = 0
  const send = (signal: AbortSignal): Promise<unknown> =>
    pool.ask(Buffer.from('fine'), seconds, () => 'fine', signal, { onLent: () => (lent += 1) })
  const busy = send(never)
  const controller = new AbortController()
  const waiting = send(controller.signal)
  controller.abort(new Error('enough'))
  answer()
  t.equal(await busy, 'fine')
  await t.rejects(waiting, { message: 'enough' })
  t.equal(lent, 1)
  t.equal(await send(never), 'fine', 'the same one serves the next')
  t.equal(lent, 2)
  await pool.close()
})

t.test('of those that wait the one that has used least comes first', async (t) => {
  const { pool, answer } = await openSlow()
  const order: number[] = []
  const send = (used: number): Promise<unknown> =>
    pool.ask(Buffer.from('fine'), seconds, () => order.push(used), never, { used })
  const all = [5, 3, 0, 3].map(send)
  answer()
  await Promise.all(all)
  t.strictSame(order, [5, 0, 3, 3])
  await pool.close()
})
