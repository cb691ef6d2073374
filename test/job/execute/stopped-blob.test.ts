// A cancel ends the wait for a blob, wherever a submission waits for one. What was done before the cancel is reported.
import { createHash } from 'node:crypto'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { storeBlob } from '#blob'
import { cancelSubmission } from '#enqueue'
import type { BlobCache, Executor, Phase } from '#executor'
import { defaultLimits } from '#language'
import { createLog } from '#log'
import { readResult } from '#result'
import { createExecuteTask } from '../../../src/job/execute/execute.ts'
import { createTestDatabase } from '../../helper/database.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'

const { sql, drop } = await createTestDatabase()
t.teardown(drop)
const caller = await createCaller(sql)
const { signal } = new AbortController()
const runtime = { version: 'none', compile: null, run: [] }
const name = createHash('sha256').update('x').digest('hex')
await storeBlob(sql, caller.apiKeyId, name, Buffer.from('x'), signal)

const ran: Phase = {
  ending: 'exited',
  exitCode: 0,
  signal: null,
  usage: { cpuSeconds: 0.25, wallSeconds: 0.5, memoryPeakBytes: 4096 },
  stdout: Buffer.from('said\n'),
  stderr: new Uint8Array(),
  stdoutTruncated: false,
  stderrTruncated: false,
}

/** Pretends to run each input that arrives. */
const executor: Executor = {
  slots: 1,
  isolation: { box: 'keeper', cgroup: 'v2', uid: 'slot' },
  cores: 1,
  runtimes: { python: runtime },
  awaited: {},
  async execute({ runs }) {
    let index = 0
    for await (const _ of runs?.inputs ?? []) {
      const goesOn = await runs?.onRun(ran, index, () => Promise.reject(new Error('no checker')))
      if (goesOn !== true) break
      index += 1
    }
    return { compile: null, compileCached: false, run: index === 0 ? null : ran }
  },
  settled: async () => {},
  close: async () => {},
}

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

for (const [what, options, told] of [
  ['its input', { stdin_sha256: name }, { stdout: '', tests: null }],
  ['its expected output', { expected_stdout_sha256: name }, { stdout: '', tests: null }],
  [
    'the input of a test',
    { tests: [test, { stdin_sha256: name }, test] },
    { stdout: 'said\n', tests: [{ verdict: 'AC' }, { verdict: null }, { verdict: null }] },
  ],
  [
    'the expected output of a test',
    { tests: [test, { expected_stdout_sha256: name }, test] },
    { stdout: 'said\n', tests: [{ verdict: 'AC' }, { verdict: null }, { verdict: null }] },
  ],
] as const) {
  t.test(`what waits for ${what} is ended by its cancel`, async (t) => {
    const asked = Promise.withResolvers<void>()
    const blobs = openEmptyCache(asked.resolve)
    const id = await submitNew(
      sql,
      caller,
      describeSubmission({ code: '', options, blobs: [{ sha256: name, bytes: 1 }] }),
    )
    const task = createExecuteTask({
      database: sql,
      executor,
      limits: defaultLimits,
      log: createLog('test', 'silent'),
      lease: { workerId: uuidv7(), signal },
      shutdown: signal,
      blobs: blobs.cache,
    })
    const running = task.run({ submission: id }, 'python')
    await asked.promise
    t.equal(
      await cancelSubmission(sql, id, caller.accountId, { actor: { operator: 'test' } }),
      'requested',
    )
    task.tick()
    await running
    await task.settled()
    t.equal(blobs.waiting, 0)
    t.match(await readResult(sql, id, null), { status: 'cancelled', verdict: null, ...told })
    t.strictSame([...(await sql`select * from audit.invariant`)], [])
  })
}
