// A worker whose sandbox fails takes nothing until it works again. Other workers run its jobs, no submission loses more than
// one attempt to it, and operators see its state.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { readStream } from '#event'
import { SandboxError } from '#executor'
import type { Executor } from '#executor'
import { createSuspension } from '#execute'
import { createLog } from '#log'
import { breakSandbox, mendSandbox } from '../../helper/control-group.ts'
import { openTestDatabase } from '../../helper/database.ts'
import { accelerated, startExecutor } from '../../helper/executor.ts'
import {
  createCaller,
  describeSubmission,
  finalResult,
  submitNew,
} from '../../helper/submission.ts'
import { startWorkerProcess } from '../../helper/worker.ts'

const { sql, url } = await openTestDatabase(t)
const caller = await createCaller(sql)
const log = createLog('test', 'silent')
const python = describeSubmission({ code: 'print(1)' })
const real = await startExecutor(t, { languages: accelerated })

async function untilSuspended(expected: boolean): Promise<void> {
  for (;;) {
    const rows = await sql`select suspended_at from audit.worker where alive`
    if (rows.some((row) => row['suspended_at'] !== null) === expected) return
    await sleep(20)
  }
}

async function countLosses(id: string): Promise<number> {
  return (await readStream(sql, id)).filter(({ type }) => type === 'execution.interrupted').length
}

t.test('a sick worker harms no submission, and takes them again when it is well', async (t) => {
  const sick = await startWorkerProcess(t, url)
  t.match(await finalResult(sql, await submitNew(sql, caller, python)), { verdict: 'AC' })
  breakSandbox(sick.child.pid ?? 0)
  const ids = await Promise.all(Array.from({ length: 8 }, () => submitNew(sql, caller, python)))
  await untilSuspended(true)
  await sick.until('worker.trial_failed')
  const [shown] = await sql`select state, suspended_because from audit.worker where alive`
  t.match(shown, { state: 'suspended', suspended_because: /^python: [a-z_.]+: ./ }, 'and says why')
  const well = await startWorkerProcess(t, url)
  for (const id of ids) t.match(await finalResult(sql, id), { verdict: 'AC' })
  // Only submissions that ran when the sandbox broke lost an attempt: at most one for each of the two slots.
  const losses = await Promise.all(ids.map(countLosses))
  t.ok(Math.max(...losses) === 1 && losses.filter((lost) => lost > 0).length <= 2, losses.join())
  well.child.kill('SIGTERM')
  await well.ended

  mendSandbox(sick.child.pid ?? 0)
  t.match(await finalResult(sql, await submitNew(sql, caller, python)), { verdict: 'AC' })
  await sick.until('worker.resumed')
  await untilSuspended(false)
  t.match(await sql`select state, suspended_because from audit.worker where alive`, [
    { state: 'working', suspended_because: null },
  ])
})

t.test('a sick worker that is told to stop ends at once', async (t) => {
  const sick = await startWorkerProcess(t, url)
  breakSandbox(sick.child.pid ?? 0)
  const id = await submitNew(sql, caller, python)
  await sick.until('worker.trial_failed')
  await submitNew(sql, caller, python)
  sick.child.kill('SIGTERM')
  t.strictSame(await sick.ended, [0, null])
  await startWorkerProcess(t, url)
  t.match(await finalResult(sql, id), { verdict: 'AC' })
})

async function untilOver(suspension: ReturnType<typeof createSuspension>): Promise<void> {
  while (suspension.suspended) await sleep(5)
}

/** Returns the real executor, which first fails `failing.left` times, and notes the time of each execution. */
const createFragileExecutor = (failing: { left: number; trials: number[] }): Executor => ({
  ...real,
  execute(request, signal) {
    failing.trials.push(performance.now())
    failing.left -= 1
    if (failing.left >= 0) return Promise.reject(new SandboxError('test', 'it is sick'))
    return real.execute(request, signal)
  },
})

t.test('pauses grow until a trial passes, and again while runs fail', async (t) => {
  const failing = { left: 3, trials: [] as number[] }
  const changes: boolean[] = []
  const suspension = createSuspension({
    executor: createFragileExecutor(failing),
    log,
    firstPauseMilliseconds: 100,
    onChange: () => void changes.push(suspension.suspended),
  })
  t.equal(suspension.suspended, false)
  t.equal(await suspension.noteFailure('python'), false)
  t.equal(suspension.suspended, true)
  t.equal(await suspension.noteFailure('python'), false, 'the second asks for no trial')
  await untilOver(suspension)
  t.equal(suspension.suspended, false)
  t.strictSame(changes, [true, false])
  const [first = 0, second = 0, third = 0, fourth = 0] = failing.trials
  t.equal(failing.trials.length, 4)
  t.ok(
    second - first >= 99 && third - second >= 199 && fourth - third >= 399,
    JSON.stringify(failing.trials),
  )

  const failAgain = async (): Promise<number> => {
    failing.left = 1
    await suspension.noteFailure('python')
    const failedAt = failing.trials.at(-1)!
    await untilOver(suspension)
    return failing.trials.at(-1)! - failedAt
  }
  t.ok((await failAgain()) >= 799, 'a trial that passed is outweighed by one that fails')
  suspension.noteSuccess()
  t.ok((await failAgain()) >= 99, 'but not a run')
  t.equal(suspension.suspended, false)
})

for (const language of ['python', 'cpp', 'java'] as const) {
  t.test(`the trial of ${language} passes where programs run`, async (t) => {
    const failing = { left: 0, trials: [] as number[] }
    const suspension = createSuspension({ executor: createFragileExecutor(failing), log })
    t.equal(await suspension.noteFailure(language), true)
    t.equal(failing.trials.length, 1)
    t.equal(suspension.suspended, false)
  })
}

t.test('a language that is withdrawn meanwhile is not tried for ever', async (t) => {
  const failing = { left: 1, trials: [] as number[] }
  const executor = createFragileExecutor(failing)
  const { python } = executor.runtimes
  const withdrawing: Executor = {
    ...executor,
    get runtimes() {
      return failing.trials.length === 0 || python === undefined ? executor.runtimes : { python }
    },
  }
  const suspension = createSuspension({ executor: withdrawing, log, firstPauseMilliseconds: 10 })
  await suspension.noteFailure('cpp')
  await untilOver(suspension)
  t.equal(suspension.suspended, false)
  t.equal(failing.trials.length, 2, 'another one was tried')
})

t.test('when the worker stops, nobody waits for a trial', async (t) => {
  const failing = { left: Infinity, trials: [] as number[] }
  const suspension = createSuspension({
    executor: createFragileExecutor(failing),
    log,
    firstPauseMilliseconds: 60_000,
  })
  await suspension.noteFailure('java')
  suspension.stop()
  await sleep(10)
  t.equal(suspension.suspended, true, 'it takes nothing any more')
  t.equal(failing.trials.length, 1)
})
