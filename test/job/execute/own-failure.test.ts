// A failure that concerns one request alone: while the worker is well, nothing is suspended, the request gets no further
// attempt, and the programs of other accounts run on. After a failure from outside the request is tried again.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { readStream } from '#event'
import { NotStartedError, SandboxError } from '#executor'
import type { Executor } from '#executor'
import { createSuspension } from '#execute'
import { createLog } from '#log'
import { blame } from '../../../src/job/execute/loss.ts'
import { openTestDatabase } from '../../helper/database.ts'
import { accelerated, startExecutor } from '../../helper/executor.ts'
import { layClass, makeClassFile, processorWords } from '../../helper/java-class.ts'
import { listTypes } from '../../helper/ledger.ts'
import { startTestQueue } from '../../helper/queue.ts'
import {
  createCaller,
  describeSubmission,
  finalResult,
  submitNew,
} from '../../helper/submission.ts'

const { sql, url } = await openTestDatabase(t)
const attacker = await createCaller(sql)
const neighbour = await createCaller(sql)
const real = await startExecutor(t, { languages: accelerated })

/** The failures of the next executions, by the program's text. After the last one the program runs. */
const failures = new Map<string, (Error | null)[]>()
const executor: Executor = {
  ...real,
  execute(request, signal) {
    const error = failures.get(Buffer.from(request.code).toString())?.shift()
    return error ? Promise.reject(error) : real.execute(request, signal)
  },
}
const log = createLog('test', 'silent')
let suspensions = 0
const suspension = createSuspension({ executor, log, onChange: () => void (suspensions += 1) })
const queue = await startTestQueue({
  url,
  database: sql,
  executor,
  workerId: uuidv7(),
  suspension,
})
t.teardown(() => queue.stop())

const accepted = ['submission.received', 'execution.started', 'execution.completed']
const failedOnce = ['submission.received', 'execution.started', 'execution.interrupted', 'execution.abandoned'] // prettier-ignore

t.test('twenty that the sandbox fails at end as IE, once each, and harm nobody', async (t) => {
  const victims: string[] = []
  const ids: string[] = []
  for (let index = 0; index < 20; index += 1) {
    const code = `print("attack ${index}")`
    const broken = new SandboxError('keeper.failed', 'protocol: what no keeper expects')
    failures.set(code, [broken, broken, broken])
    ids.push(await submitNew(sql, attacker, describeSubmission({ code })))
    victims.push(await submitNew(sql, neighbour, describeSubmission({ code: `print(${index})` })))
  }
  for (const id of ids) {
    t.match(await finalResult(sql, id), { status: 'failed', verdict: 'IE' })
    t.strictSame(await listTypes(sql, id), failedOnce)
  }
  for (const id of victims) {
    t.match(await finalResult(sql, id), { verdict: 'AC' })
    t.strictSame(await listTypes(sql, id), accepted)
  }
  t.equal(suspensions, 0, 'the worker is well')
})

t.test('what is sent to no box is the request’s, without a trial', async (t) => {
  // Longer than the keeper's protocol allows; the request's schema refuses such a word.
  const words = ['x'.repeat(70_000)]
  const id = await submitNew(
    sql,
    attacker,
    describeSubmission({ code: 'print(2)', options: { args: words } }),
  )
  t.match(await finalResult(sql, id), { status: 'failed', verdict: 'IE' })
  t.strictSame(await listTypes(sql, id), failedOnce)
  t.match((await readStream(sql, id))[2]?.data, { step: 'request.words', spends_attempt: true })
  t.equal(suspensions, 0)
})

const toFile = ({ name, content }: { readonly name: string; readonly content: Uint8Array }) =>
  ({ name, content: Buffer.from(content).toString('base64'), encoding: 'base64' }) as const

t.test('a class whose name no launcher could be told is the program’s own failure', async (t) => {
  const victims: string[] = []
  const ids: string[] = []
  for (const name of [Buffer.from([0x41, 0xc0, 0x80, 0x42]), Buffer.alloc(65_200, 'A')]) {
    const files = layClass(makeClassFile(name)).map(toFile)
    const options = { files, compile_args: processorWords }
    const attack = describeSubmission({ language: 'java', code: '// no class here\n', options })
    for (let index = 0; index < 10; index += 1) {
      ids.push(await submitNew(sql, attacker, attack))
      victims.push(await submitNew(sql, neighbour, describeSubmission({ code: 'print(3)' })))
    }
  }
  for (const id of ids) {
    t.match(await finalResult(sql, id), { verdict: 'RE' })
    t.strictSame(await listTypes(sql, id), accepted)
  }
  for (const id of victims) {
    t.match(await finalResult(sql, id), { verdict: 'AC' })
    t.strictSame(await listTypes(sql, id), accepted)
  }
  t.equal(suspensions, 0)
})

t.test('a keeper that was killed is no request’s doing: another attempt is made', async (t) => {
  const code = 'print("struck")'
  failures.set(code, [new SandboxError('keeper.gone', '(SIGKILL)')])
  const id = await submitNew(sql, attacker, describeSubmission({ code }))
  t.match(await finalResult(sql, id), { verdict: 'AC', stdout: 'struck\n' })
  t.strictSame(await listTypes(sql, id), [
    ...failedOnce.slice(0, 3),
    'execution.started',
    'execution.completed',
  ])
  t.equal(suspensions, 0)
})

t.test('whose failure it is', (t) => {
  const system = (code: string): Error => Object.assign(new Error(code), { code })
  const blamed: readonly (readonly [Error, ReturnType<typeof blame>])[] = [
    [new SandboxError('request.words', ''), 'request'],
    [new SandboxError('request.name', ''), 'request'],
    [new SandboxError('blob.read', ''), 'run'],
    [new SandboxError('language.missing', ''), 'run'],
    [new SandboxError('box.starved', ''), 'run'],
    [new SandboxError('box.memory', ''), 'run'],
    [new SandboxError('keeper.gone', ''), 'outside'],
    [new NotStartedError('keeper.silent', ''), 'outside'],
    [new SandboxError('keeper.failed', 'box.watch: the box ended without a word'), 'outside'],
    [new SandboxError('keeper.failed', 'protocol: the limits'), 'unknown'],
    [new SandboxError('cgroup.create', ''), 'outside'],
    [new SandboxError('box.scratch', '', system('ENOSPC')), 'outside'],
    [new SandboxError('artefact.write', '', system('EMFILE')), 'outside'],
    [new SandboxError('artefact.write', '', system('E2BIG')), 'unknown'],
    [new SandboxError('artefact.write', '', system('ERR_INVALID_ARG_VALUE')), 'unknown'],
    [system('ENOSPC'), 'outside'],
    [system('57P01'), 'outside'],
    [new RangeError('class file ends early'), 'unknown'],
  ]
  for (const [error, expected] of blamed) t.equal(blame(error), expected, String(error))
  t.end()
})
