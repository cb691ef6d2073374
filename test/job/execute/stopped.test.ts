// Runs that end before the program has its verdict: a cancel while a submission waits for a blob, a worker that stops while
// an output is judged, and a sandbox that is beyond repair.
import { createHash } from 'node:crypto'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { storeBlob } from '#blob'
import { cancelSubmission } from '#enqueue'
import { readStream } from '#event'
import { SandboxError } from '#executor'
import type { BlobCache, Executor } from '#executor'
import { defaultLimits } from '#language'
import { createLog } from '#log'
import { readResult } from '#result'
import { createExecuteTask } from '../../../src/job/execute/execute.ts'
import { describePhase } from '../../helper/executor.ts'
import { findBroken } from '../../helper/ledger.ts'
import { withoutMore } from '../../helper/queue.ts'
import { openTestDatabase } from '../../helper/database.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'

const { sql } = await openTestDatabase(t)
const caller = await createCaller(sql)
const { signal } = new AbortController()
const name = createHash('sha256').update('x').digest('hex')
await storeBlob(sql, caller.apiKeyId, name, Buffer.from('x'), signal)

const pretendExecutor = (execute: Executor['execute'], slots = 1): Executor => ({
  slots,
  isolation: { box: 'keeper', cgroup: 'v2', uid: 'slot' },
  cores: 1,
  runtimes: { python: { version: 'none', compile: null, run: [] } },
  awaited: {},
  execute,
  settled: async () => {},
  close: async () => {},
})

type More = Partial<Parameters<typeof createExecuteTask>[0]>

const createTask = (executor: Executor, more: More): ReturnType<typeof createExecuteTask> =>
  createExecuteTask({
    database: sql,
    patientDatabase: sql,
    executor,
    limits: defaultLimits,
    log: createLog('test', 'silent'),
    lease: { workerId: uuidv7(), signal },
    shutdown: signal,
    ...withoutMore,
    ...more,
  })

const readLast = async (id: string): Promise<unknown> => (await readStream(sql, id)).at(-1)

/** Pretends to run each input that arrives. */
const running = pretendExecutor(async ({ runs }) => {
  const ran = describePhase({ stdout: Buffer.from('said\n') })
  let index = 0
  for await (const _ of runs?.inputs ?? []) {
    const goesOn = await runs?.onRun(ran, index, () => Promise.reject(new Error('no checker')))
    if (goesOn !== true) break
    index += 1
  }
  return { compile: null, compileCached: false, run: index === 0 ? null : ran }
})

/** Opens a cache that never has a blob. It calls `onAsked` at each read, and counts the reads that wait. */
function openEmptyCache(onAsked: () => void): { cache: BlobCache; waiting: number } {
  const seen = { waiting: 0, cache: { read, forgetUnused: () => {} } }
  function read(_owner: string, _name: string, stop?: AbortSignal): Promise<never> {
    seen.waiting += 1
    onAsked()
    return new Promise((_resolve, reject) => {
      stop?.addEventListener('abort', () => {
        seen.waiting -= 1
        reject(stop.reason)
      })
    })
  }
  return seen
}

const test = { expected_stdout: 'said\n' }
const alone = { stdout: '', tests: null }
const second = {
  stdout: 'said\n',
  tests: [{ verdict: 'AC' }, { verdict: null }, { verdict: null }],
}

for (const [what, options, told] of [
  ['its input', { stdin_sha256: name }, alone],
  ['its expected output', { expected_stdout_sha256: name }, alone],
  ['the input of a test', { tests: [test, { stdin_sha256: name }, test] }, second],
  ['the expected output of a test', { tests: [test, { expected_stdout_sha256: name }, test] }, second], // prettier-ignore
] as const) {
  t.test(`what waits for ${what} is ended by its cancel`, async (t) => {
    const asked = Promise.withResolvers<void>()
    const blobs = openEmptyCache(asked.resolve)
    const id = await submitNew(
      sql,
      caller,
      describeSubmission({ code: '', options, blobs: [{ sha256: name, bytes: 1 }] }),
    )
    const task = createTask(running, { blobs: blobs.cache })
    const ended = task.run(id, 'python')
    await asked.promise
    t.equal(
      await cancelSubmission(sql, id, caller.accountId, { actor: { operator: 'test' } }),
      'requested',
    )
    task.tick()
    await ended
    await task.settled()
    t.equal(blobs.waiting, 0)
    t.match(await readResult(sql, id), { status: 'cancelled', verdict: null, ...told })
    t.strictSame(await findBroken(sql), [])
  })
}

// Too large to be checked without the thread.
const long = 512 * 1024
const expectedStdout = Buffer.alloc(long, 'y')
for (const [what, description] of [
  ['its output', { expectedStdout }],
  ['that of a test', { options: { tests: [{ expected_stdout: expectedStdout.toString() }] } }],
] as const) {
  t.test(`a worker that stops while ${what} is judged gives it back as if not run`, async (t) => {
    const id = await submitNew(sql, caller, describeSubmission({ code: '', ...description }))
    const shutdown = new AbortController()
    const ran = describePhase({ stdout: Buffer.alloc(long, 'x') })
    // The worker is told to stop when the program has ended, before its output is judged.
    const executor = pretendExecutor(async ({ runs }) => {
      for await (const _ of runs?.inputs ?? []) {
        shutdown.abort()
        await runs?.onRun(ran, 0, () => Promise.reject(new Error('no checker')))
      }
      shutdown.abort()
      return { compile: null, compileCached: false, run: ran }
    })
    const task = createTask(executor, { shutdown: shutdown.signal })
    await task.run(id, 'python')
    await task.settled()
    t.equal((await readResult(sql, id))?.status, 'queued')
    t.match(await readLast(id), {
      type: 'execution.interrupted',
      data: { reason: 'shutdown', spends_attempt: false },
    })
  })
}

for (const [what, slots, goes, data] of [
  ['with no slot left the worker is told to go, and the run was not the program', 0, 1, { reason: 'sandbox_failed', spends_attempt: false, step: 'slot.acquire' }], // prettier-ignore
  ['with a slot left a failure is an attempt spent', 1, 0, { spends_attempt: true }],
] as const) {
  t.test(what, async (t) => {
    const fail = (): Promise<never> =>
      Promise.reject(new SandboxError('slot.acquire', 'every slot is quarantined'))
    const id = await submitNew(sql, caller, describeSubmission({ code: '' }))
    let exhausted = 0
    const task = createTask(pretendExecutor(fail, slots), {
      onExhausted: () => void (exhausted += 1),
    })
    await task.run(id, 'python')
    await task.settled()
    t.equal(exhausted, goes)
    t.match(await readLast(id), { type: 'execution.interrupted', data })
  })
}
