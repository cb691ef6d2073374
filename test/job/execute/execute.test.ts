// From a submission in the database to its end in the log, with the real queue and the real sandbox.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { readStream } from '#event'
import { createLog } from '#log'
import type { ResultRecord } from '#result'
import { openTestDatabase } from '../../helper/database.ts'
import { startExecutor } from '../../helper/executor.ts'
import { findBroken } from '../../helper/ledger.ts'
import { startTestQueue } from '../../helper/queue.ts'
import {
  createCaller,
  describeSubmission,
  finalResult,
  submitNew,
} from '../../helper/submission.ts'

const { sql, url } = await openTestDatabase(t)
const caller = await createCaller(sql)
const languages = ['python', 'cpp'] as const
const executor = await startExecutor(t, { languages })
const workerId = uuidv7()
const logged: string[] = []
const log = createLog('test', 'info', { write: (line) => logged.push(line) })
const options = { url, database: sql, executor, workerId, log }
const queue = await startTestQueue(options)
t.teardown(() => queue.stop())

/** Submits, and waits for the end. */
async function submit(
  submission: Parameters<typeof describeSubmission>[0],
  by = caller,
): Promise<ResultRecord> {
  return finalResult(sql, await submitNew(sql, by, describeSubmission(submission)))
}

t.test('a program ends with its verdict, outputs and figures', async (t) => {
  const code = 'import sys\nprint(input()[::-1])\nprint("ä", file=sys.stderr)'
  const record = await submit({ code, stdin: 'abc' })
  t.match(record, {
    status: 'completed',
    verdict: 'AC',
    exit_code: 0,
    signal: null,
    stdout: 'cba\n',
    stderr: 'ä\n',
    compile_output: null,
    language: 'python',
    runtime: /^Python 3\./,
  })
  t.ok(
    record.cpu_time !== null && record.cpu_time > 0 && record.cpu_time < 5,
    `cpu ${record.cpu_time}`,
  )
  t.ok(record.wall_time !== null && record.wall_time > 0, `wall ${record.wall_time}`)
  t.ok(record.memory_peak !== null && record.memory_peak > 1e6, `memory ${record.memory_peak}`)
})

t.test('the log tells its life in order, with worker, limits and isolation', async (t) => {
  const { id, ...record } = await submit({ language: 'cpp', code: 'int main() { return 3; }' })
  t.match(record, { verdict: 'RE', exit_code: 3 })
  const events = await readStream(sql, id)
  const types = ['submission.received', 'execution.started', 'execution.completed']
  t.strictSame(events.map(({ version, type }) => [version, type]), types.map((type, n) => [n + 1, type])) // prettier-ignore
  t.match(events[0]?.data, { language: 'cpp', code: { bytes: 24, sha256: /^[0-9a-f]{64}$/ } })
  t.match(events[1], {
    data: {
      attempt: 1,
      worker: workerId,
      limits: { run: { cpu_time: Number } },
      isolation: { cgroup: /^v[12]$/ },
    },
  })
  t.match(events[2]?.data, {
    verdict: 'RE',
    exit_code: 3,
    compile: { cached: false },
    run: { ending: 'exited' },
  })
  const [execution] = await sql`select * from audit.execution where submission_id = ${id}`
  t.match(execution, {
    attempt: 1,
    worker_id: workerId,
    verdict: 'RE',
    ended_by: 'execution.completed',
    slot_seconds: Number,
  })
  const { run, compile, slot_seconds: slot } = execution ?? {}
  const ran = Number(run?.wall_time) + Number(compile?.wall_time)
  t.ok(slot >= ran, `its slot was taken for ${slot} s, of which it ran ${ran}`)
})

t.test('a crash of the program is a completed execution', async (t) => {
  const record = await submit({ language: 'cpp', code: 'int main() { __builtin_trap(); }' })
  t.match(record, { status: 'completed', verdict: 'RE', signal: 'SIGILL', exit_code: 132 })
})

t.test('code that does not compile never ran', async (t) => {
  t.match(await submit({ language: 'cpp', code: 'int main() {' }), {
    status: 'completed', verdict: 'CE', exit_code: null, stdout: '', stderr: '', cpu_time: 0, wall_time: 0,
    memory_peak: 0, compile_output: /error: expected/,
  }) // prettier-ignore
})

t.test('what is no UTF-8 comes back with U+FFFD, and every other byte as it was', async (t) => {
  const code = String.raw`import os; os.write(1, b"\xff\x00\xf0\x9f\x98\x80\xef\xbb\xbf")`
  t.equal((await submit({ code })).stdout, '\uFFFD\0\u{1F600}\uFEFF')
})

t.test("what an account has compiled is no other account's to find", async (t) => {
  const others = await createCaller(sql)
  const isCached = async (who: typeof caller): Promise<unknown> => {
    const { id } = await submit({ language: 'cpp', code: 'int main() { return 17; }' }, who)
    const data = (await readStream(sql, id)).at(-1)?.data as { compile: { cached: boolean } }
    return data.compile.cached
  }
  t.equal(await isCached(caller), false)
  t.equal(await isCached(caller), true)
  t.equal(await isCached(others), false)
})

t.test('results are what the log says, every hash fits, no promise is broken', async (t) => {
  t.strictSame(await findBroken(sql), [])
  t.strictSame([...(await sql`select * from audit.altered_body`)], [])
})

t.test('the log says of a run whose it was, on which worker, and how long it waited', async (t) => {
  const { id } = await submit({ code: 'print(1)' })
  const find = (): string | undefined =>
    logged.find((line) => line.includes('execution.completed') && line.includes(id))
  while (find() === undefined) await new Promise(setImmediate)
  const line = JSON.parse(find() ?? '') as { queued_seconds: number }
  t.match(line, { account: caller.accountId, worker: workerId, verdict: 'AC' })
  const [result] = await sql`select started_at from runledger.submission where id = ${id}`
  const sentAt = Number.parseInt(id.replace('-', '').slice(0, 12), 16)
  t.ok(line.queued_seconds * 1000 <= Number(result?.['started_at']) - sentAt, 'in seconds')
  t.ok(line.queued_seconds >= 0)
})

t.test('three runs lost to a sandbox that fails end as IE, and are ours', async (t) => {
  await queue.stop()
  const broken = await startExecutor(t, { languages })
  await broken.close()
  const second = await startTestQueue({ ...options, executor: broken })
  t.teardown(() => second.stop())
  const { id, ...record } = await submit({ code: 'print(1)' })
  t.match(record, { status: 'failed', verdict: 'IE', exit_code: null, stdout: '', cpu_time: 0 })
  const events = await readStream(sql, id)
  t.equal(events.filter(({ type }) => type === 'execution.interrupted').length, 3)
  t.match(events.at(-1), { type: 'execution.abandoned', data: { losses: 3 } })
  t.strictSame(await findBroken(sql), [])
})
