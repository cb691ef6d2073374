// `runledger rerun` repeats many submissions, each once, even if the command or a process is killed in between.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { findOperatorKey, listKeys } from '#account'
import type { Caller } from '#account'
import { createClient, createOperator } from '#client'
import type { BulkSum, Operator } from '#client'
import { rerunInCampaign, rerunSubmission } from '#enqueue'
import { createId } from '#id'
import { rebuildProjections } from '#result'
import { printLife } from '../../src/cli/audit.ts'
import { runCampaign as runOver } from '../../src/cli/rerun.ts'
import type { Campaign, CampaignReport } from '../../src/cli/rerun.ts'
import { bareEnvironment } from '../helper/bare-environment.ts'
import { parseLines, startCommandLine } from '../helper/command-line.ts'
import type { Ended } from '../helper/command-line.ts'
import { openTestDatabase } from '../helper/database.ts'
import { finish, pretendWorker } from '../helper/execution.ts'
import type { PretendedRun } from '../helper/execution.ts'
import { issueOperatorKey } from '../helper/operator.ts'
import { startServer } from '../helper/server.ts'
import { createCaller, describeSubmission, finalResult, submitNew } from '../helper/submission.ts'
import { until } from '../helper/until.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { sql, url } = await openTestDatabase(t)
const root = resolve(import.meta.dirname, '../..')
const caller = await createCaller(sql, 'beta')
const started = new Date(Date.now() - 1000)

/** Creates ended submissions under the given tag. */
async function submitEnded(
  tag: string,
  verdicts: readonly string[],
  by: Caller = caller,
): Promise<string[]> {
  const ids: string[] = []
  for (const verdict of verdicts) {
    const id = await submitNew(sql, by, describeSubmission({ code: `print(${ids.length})`, tag }))
    await finish(sql, id, { verdict })
    ids.push(id)
  }
  return ids
}

/** Connects an operator to a web process that has only a web process's rights and the given queue capacity. */
async function connect(
  queueCapacity = 200,
): Promise<{ operator: Operator; environment: Readonly<Record<string, string>> }> {
  const web = await startServer(t, sql, { url: `${url}?role=runledger_api`, queueCapacity })
  const { key } = await issueOperatorKey(sql)
  const service = `http://127.0.0.1:${web.port}`
  return {
    operator: createOperator(createClient({ url: service, apiKey: key })),
    environment: { RUNLEDGER_URL: service, RUNLEDGER_OPERATOR_KEY: key },
  }
}

const { operator, environment } = await connect()

type Counts = Pick<BulkSum, 'count' | 'skipped'>
const flatten = ({ count, skipped }: Counts): { due: number; done: number; purged: number; not_offered: number } => ({ due: count, ...skipped }) // prettier-ignore
const countCampaign = async (campaign: Campaign): Promise<ReturnType<typeof flatten>> =>
  flatten(await operator.count(campaign))

async function runCampaign(
  campaign: Campaign,
  by = operator,
  onProgress: () => void = () => {},
): Promise<Omit<CampaignReport, keyof Counts> & { counts: ReturnType<typeof flatten> }> {
  const { count, skipped, ...report } = await runOver(by, campaign, onProgress)
  return { ...report, counts: flatten({ count, skipped }) }
}

/** Returns a campaign since the start of the tests, unless the filter says otherwise. */
function describe(tag: string, filter: object = {}, atOnce = 3): Campaign {
  const until = new Date(Date.now() + 60_000).toISOString()
  return {
    action: 'rerun',
    campaign: `campaign ${uuidv7()}`,
    at_once: atOnce,
    filter: { since: started.toISOString(), until, tag, ...filter },
  }
}

const readReruns = async (name: string): Promise<readonly Rerun[]> =>
  sql<Rerun[]>`select * from audit.rerun where campaign = ${name} order by submission_id`

interface Rerun {
  readonly submission_id: string
  readonly rerun_id: string
  readonly status: string
  readonly changed: boolean | null
  readonly output: string | null
}

/** The most reruns that were observed under way at once. */
interface Work {
  most: number
  stop(): Promise<void>
}

/**
 * Completes the reruns of a campaign as a worker would.
 * @param judge returns the verdict or the run.
 * @param limit how many it completes.
 */
function work(
  name: string,
  judge: (original: string) => string | PretendedRun = () => 'AC',
  limit = Number.POSITIVE_INFINITY,
): Work {
  let isStopped = false
  let left = limit
  const state = { most: 0 }
  const working = (async () => {
    while (!isStopped) {
      const open = (await readReruns(name)).filter(({ status }) => status === 'queued')
      state.most = Math.max(state.most, open.length)
      const [next] = open
      if (next === undefined || left === 0) await sleep(5)
      else {
        left -= 1
        const judged = judge(next.submission_id)
        await finish(sql, next.rerun_id, typeof judged === 'string' ? { verdict: judged } : judged)
      }
    }
  })()
  return {
    get most() {
      return state.most
    },
    async stop() {
      isStopped = true
      await working
    },
  }
}

const command = startCommandLine(t, environment)
const runCommand = (line: string): Promise<Ended> => command(`rerun ${line}`)

t.test('each once, at most so many at once, and whose verdict differs is told', async (t) => {
  const ids = await submitEnded('told', ['AC', 'AC', 'WA', 'RE', 'AC', 'AC', 'WA'])
  const campaign = describe('told')
  t.strictSame(await countCampaign(campaign), { due: 7, done: 0, purged: 0, not_offered: 0 })
  const worker = work(campaign.campaign, (id) => (id === ids[1] ? 'WA' : id === ids[2] ? 'AC' : id === ids[3] ? 'RE' : id === ids[6] ? 'WA' : 'AC')) // prettier-ignore
  const report = await runCampaign(campaign)
  await worker.stop()
  t.match(report, { counts: { due: 7, done: 0, purged: 0 }, repeated: 7, cancelled: 0 })
  t.match(report.changes, [
    { id: ids[1], verdict_before: 'AC', verdict_after: 'WA', tag: 'told' },
    { id: ids[2], verdict_before: 'WA', verdict_after: 'AC', tag: 'told' },
  ])
  t.equal(report.changes.length, 2)
  t.ok(worker.most <= 3, `${worker.most} at once`)
  const [first] = await readReruns(campaign.campaign)
  const receipt = await rerunSubmission(
    sql,
    first?.rerun_id ?? '',
    createId(),
    { apiKeyId: caller.apiKeyId, requestId: uuidv7(), idempotencyKey: null, capacity: 1000 },
    new AbortController().signal,
  )
  t.equal(receipt.kind, 'received', 'its caller may repeat a rerun of it')
  if (receipt.kind === 'received') await finish(sql, receipt.id)
  t.equal((await readReruns(campaign.campaign)).length, 7, 'which is none of the campaign')
  const again = await runCampaign(campaign)
  t.match(again, { counts: { due: 0, done: 7 }, repeated: 7 }, 'called again it does nothing')
  t.strictSame(again.changes, report.changes)
  const repeated = (await readReruns(campaign.campaign)).map(({ submission_id: id }) => id)
  t.strictSame(repeated, ids)
})

t.test('where nothing was expected, outputs are compared', async (t) => {
  const cut = { data: { stdout: { sha256: 'a', bytes: 1, truncated: true } } }
  const killed = { data: { exit_code: null, signal: 'KILL' } }
  const tests = { data: { tests: [{ verdict: 'AC' }] } }
  const expected = { expectedStdout: Buffer.from('a') }
  const blobs = { options: { stdin_sha256: '0'.repeat(64) } }
  const cases = [
    ['alike', {}, { stdout: 'a' }, { stdout: 'a' }, 'same'],
    ['another stdout', {}, { stdout: 'a' }, { stdout: 'b' }, 'differs'],
    ['another exit code', {}, {}, { data: { exit_code: 3 } }, 'differs'],
    ['a signal', {}, {}, killed, 'differs'],
    ['both killed', {}, killed, killed, 'same'],
    ['a part before', {}, cut, { stdout: 'a' }, 'not known'],
    ['a part after', {}, { stdout: 'a' }, cut, 'not known'],
    ['a blob, alike', blobs, { stdout: 'a' }, { stdout: 'a' }, 'same'],
    ['a blob, which may be expected', blobs, { stdout: 'a' }, { stdout: 'b' }, 'not known'],
    ['expected', expected, { stdout: 'a' }, { stdout: 'b' }, null],
    ['tests', {}, tests, { ...tests, stdout: 'b' }, null],
  ] as const
  const runs = new Map<string, PretendedRun>()
  for (const [, given, before, after] of cases) {
    const id = await submitNew(sql, caller, describeSubmission({ code: '', tag: 'outputs', ...given })) // prettier-ignore
    await finish(sql, id, before)
    runs.set(id, after)
  }
  const campaign = describe('outputs')
  const name = campaign.campaign
  const worker = work(name, (id) => runs.get(id) ?? {})
  const report = await runCampaign(campaign)
  await worker.stop()
  const found = await readReruns(name)
  for (const [index, [what, , , , output]] of cases.entries())
    t.equal(found[index]?.output, output, what)
  t.strictSame(report.outputs, { same: 3, differs: 3, not_known: 3 })
  t.strictSame(
    report.changes.map(({ id, output }) => [id, output]),
    found.filter(({ output }) => output === 'differs').map((one) => [one.submission_id, 'differs']),
  )
  const { status, out } = await command([
    ...'rerun --since 2020-01-01 --tag outputs --name'.split(' '),
    name,
  ])
  t.equal(status, 1, 'an output differs')
  const lines = parseLines(out)
  t.match(lines[0], { verdict_before: 'AC', verdict_after: 'AC', output: 'differs' })
  t.match(lines.at(-1), { changed: 3, outputs_same: 3, outputs_differ: 3, outputs_not_known: 3 })
})

t.test('what is asked for, and nothing else', async (t) => {
  const other = await createCaller(sql)
  const [accepted = ''] = await submitEnded('chosen', ['AC', 'WA'])
  const [foreign = ''] = await submitEnded('chosen', ['AC'], other)
  await submitNew(sql, caller, describeSubmission({ code: '', tag: 'chosen' }))
  const cancelled = await submitNew(sql, caller, describeSubmission({ code: '', tag: 'chosen' }))
  await sql`select runledger.cancel(array[${cancelled}::uuid], ${caller.accountId}, '{"actor": {}}')`
  const count = async (more: object): Promise<number> =>
    (await countCampaign(describe('chosen', more))).due
  t.equal(await count({}), 3, 'neither what has not ended nor what was cancelled')
  t.equal(await count({ verdict: 'AC' }), 2)
  t.equal(await count({ language: 'cpp' }), 0)
  t.equal(await count({ since: new Date(Date.now() + 1000).toISOString() }), 0)
  t.equal(await count({ until: started.toISOString() }), 0)
  const [account] = await sql<{ name: string }[]>`
    select name from runledger.account where id = ${other.accountId}`
  const campaign = describe('chosen', { account: account?.name })
  const worker = work(campaign.campaign)
  await runCampaign(campaign)
  await worker.stop()
  t.match(await readReruns(campaign.campaign), [{ submission_id: foreign }])
  t.equal(await count({}), 3, 'reruns are not run again themselves')
  t.not(accepted, foreign)
})

t.test('what is gone and what nobody runs is counted and skipped', async (t) => {
  const [purged = '', kept = ''] = await submitEnded('gone', ['AC', 'AC'])
  await sql`delete from runledger.body where submission_id = ${purged}`
  const campaign = describe('gone')
  const worker = work(campaign.campaign)
  // The log does not show yet that the body is gone; the rerun finds that.
  t.match(await runCampaign(campaign), { counts: { due: 1, purged: 1 } })
  await worker.stop()
  t.match(await readReruns(campaign.campaign), [{ submission_id: kept }])
  await sql`update runledger.result set purged_at = now() where id = ${purged}`
  t.match(await countCampaign(campaign), { due: 0, done: 1, purged: 1 })
  await pretendWorker(sql, { cpp: {} })
  t.match(await countCampaign(describe('gone')), { due: 0, purged: 1, not_offered: 1 })
  await sql`delete from runledger.worker`
  await sql`update runledger.result set purged_at = null where id = ${purged}`
  await sql`insert into runledger.body (submission_id, code, stdin) values (${purged}, 'print(0)', '')`
})

t.test('it takes no place of a key of the account, and that key is nobody’s', async (t) => {
  await submitEnded(
    'places',
    Array.from({ length: 12 }, () => 'AC'),
  )
  const campaign = describe('places', {}, 12)
  const running = runCampaign(campaign)
  await until(async () => (await readReruns(campaign.campaign)).length === 12)
  const own = await submitNew(sql, caller, describeSubmission({ code: '' }))
  const [row] = await sql`select admitted from runledger.pending where submission_id = ${own}`
  t.equal(row?.['admitted'], true)
  const worker = work(campaign.campaign)
  await running
  await worker.stop()
  const [account] = await sql<{ name: string }[]>`
    select name from runledger.account where id = ${caller.accountId}`
  const keys = (await listKeys(sql, account?.name)).filter(({ label }) => label === 'operator')
  t.equal(keys.length, 1)
  t.not(keys[0]?.revoked_at, null)
  const found = await Promise.all(
    Array.from({ length: 5 }, () =>
      findOperatorKey(sql, caller.accountId, { actor: { operator: 'test' } }),
    ),
  )
  t.strictSame(new Set(found), new Set([keys[0]?.id]))
})

t.test('a queue that others fill is left to them', async (t) => {
  await submitEnded('full', ['AC'])
  const [{ pending }] = await sql<[{ pending: number }]>`
    select count(*) as pending from runledger.pending`
  // A campaign may use half of the queue.
  const full = await connect(2 * (pending + 1))
  const campaign = describe('full')
  const other = await submitNew(sql, await createCaller(sql), describeSubmission({ code: '' }))
  let waited = 0
  const running = runCampaign(campaign, full.operator, () => (waited += 1))
  await until(async () => waited >= 3)
  t.equal((await readReruns(campaign.campaign)).length, 0)
  await finish(sql, other)
  const worker = work(campaign.campaign)
  t.match(await running, { counts: { due: 1 } })
  await worker.stop()
})

t.test('two calls of one campaign at once double nothing', async (t) => {
  const ids = await submitEnded(
    'twice',
    Array.from({ length: 40 }, () => 'AC'),
  )
  const campaign = describe('twice', {}, 5)
  const worker = work(campaign.campaign)
  const reports = await Promise.all(Array.from({ length: 4 }, () => runCampaign(campaign)))
  await worker.stop()
  t.ok(worker.most <= 5, `${worker.most} at once`)
  t.equal(
    reports.reduce((sum, { counts }) => sum + counts.due, 0),
    40,
  )
  const repeated = (await readReruns(campaign.campaign)).map(({ submission_id: id }) => id)
  t.strictSame(repeated, ids)
})

t.test('even without its lock one is repeated once', async (t) => {
  const [id = ''] = await submitEnded('index', ['AC'])
  const apiKeyId = await findOperatorKey(sql, caller.accountId, { actor: { operator: 'test' } })
  const name = `campaign ${uuidv7()}`
  const rerun = { id: createId(), apiKeyId, capacity: 1000 }
  const by = { name, atOnce: 1 }
  const metadata = { actor: { operator: 'test' } }
  t.equal(await rerunInCampaign(sql, id, by, rerun, metadata), 'received')
  const again = { ...rerun, id: createId() }
  t.equal(await rerunInCampaign(sql, id, by, again, metadata), 'done')
  await t.rejects(
    sql`
      insert into runledger.rerun (submission_id, rerun_of, campaign) values (${createId()}, ${id}, ${name})`,
    { code: '23505' },
  )
  await finish(sql, (await readReruns(name))[0]?.rerun_id ?? '')
})

t.test('killed in the middle and called again it goes on, each once', async (t) => {
  const ids = await submitEnded(
    'killed',
    Array.from({ length: 25 }, () => 'AC'),
  )
  const words = '--since 2020-01-01 --tag killed --at-once 3'
  const name = 'since=2020-01-01T00:00:00.000Z tag=killed'
  const judge = (id: string): string => (id === ids[20] ? 'TLE' : 'AC')
  const first = spawn('node', ['src/cli/cli.ts', 'rerun', ...words.split(' ')], {
    cwd: root,
    stdio: 'ignore',
    env: { ...bareEnvironment, ...environment },
  })
  t.teardown(() => first.kill('SIGKILL'))
  // With five completed and three at once, the command is in the middle whenever the kill comes.
  const slow = work(name, judge, 5)
  await until(async () => (await readReruns(name)).length >= 7)
  first.kill('SIGKILL')
  await once(first, 'exit')
  await slow.stop()
  const before = (await readReruns(name)).length
  t.ok(before < 25, `${before} were repeated when it was killed`)
  const worker = work(name, judge)
  const { status, out } = await runCommand(words)
  await worker.stop()
  t.equal(status, 1, 'a verdict differs')
  const lines = parseLines(out)
  t.match(lines, [
    { id: ids[20], verdict_before: 'AC', verdict_after: 'TLE', tag: 'killed' },
    { campaign: name, repeated: 25, changed: 1 },
  ])
  // The service still received the last request of the killed command.
  const { received, done } = lines.at(-1) as { received: number; done: number }
  t.equal(received + done, 25)
  t.ok(done >= before && done < 25, `${done} were done before the second call`)
  const repeated = (await readReruns(name)).map(({ submission_id: id }) => id)
  t.strictSame(repeated, ids)
  t.ok(Math.max(slow.most, worker.most) <= 3, `${slow.most} and ${worker.most} at once`)
  const dry = await runCommand(`${words} --dry-run`)
  t.match(parseLines(dry.out), [{ campaign: name, due: 0, done: 25 }])
  t.equal(dry.status, 0)
})

t.test('a toolchain that does otherwise shows', async (t) => {
  const old = await startWorkerProcess(t, url)
  const run = async (code: string): Promise<string> => {
    const id = await submitNew(sql, caller, describeSubmission({ code, tag: 'real' }))
    t.match(await finalResult(sql, id), { verdict: 'AC' })
    return id
  }
  const loud = await run('print("x" * 5000)')
  const quiet = await run('print("x")')
  old.child.kill('SIGTERM')
  await old.ended
  // A rerun also uses the language's present limits.
  await startWorkerProcess(t, url, { PYTHON_RUN_STDOUT_BYTES: '1000' })
  const words = 'rerun --since 2020-01-01 --tag real --name real --account'.split(' ')
  const [account] = await sql<{ name: string }[]>`
    select name from runledger.account where id = ${caller.accountId}`
  const { status, out } = await command([...words, account?.name ?? ''])
  t.equal(status, 1)
  t.match(parseLines(out), [
    { id: loud, verdict_before: 'AC', verdict_after: 'OLE' },
    { campaign: 'real', received: 2, repeated: 2, changed: 1 },
  ])
  t.match(await readReruns('real'), [
    { submission_id: loud, changed: true, runtime_before: /^Python/, runtime_after: /^Python/ },
    { submission_id: quiet, changed: false },
  ])
  const [rerun] = await readReruns('real')
  const life = (await printLife(sql, rerun?.rerun_id ?? ''))?.lines.join('\n') ?? ''
  t.match(life, new RegExp(`a rerun of ${loud}; in the campaign real of api_key `))
})

t.test('a call that is wrong is told, and writes nothing', async (t) => {
  for (const line of [
    'rerun',
    'rerun --since yesterday',
    'rerun --since 2020-13-01',
    'rerun --since 2020-01-01 --language latin',
    'rerun --since 2020-01-01 --verdict OK',
    'rerun --since 2020-01-01 --at-once 0',
    'rerun --since 2020-01-01 --name ',
  ])
    t.equal((await command(line)).status, 64, line)
  t.equal((await runCommand('--since 2020-01-01 --account nobody')).status, 1)
})

t.test('the table is made anew from the log', async (t) => {
  const read = async (): Promise<unknown[]> => [
    ...(await sql`select * from runledger.rerun order by submission_id`),
  ]
  const drift = async (): Promise<unknown[]> => [...(await sql`select * from audit.drift`)]
  const before = await read()
  t.ok(before.length > 80)
  t.strictSame(await drift(), [])
  const [one] = await sql<{ submission_id: string }[]>`select submission_id from runledger.rerun`
  for (const [statement, repaired] of [
    ['truncate runledger.rerun', before.length],
    [
      `update runledger.rerun set campaign = 'other' where submission_id = '${one?.submission_id}'`,
      1,
    ],
    [`insert into runledger.rerun values ('${uuidv7()}', '${uuidv7()}', null)`, 1],
    [
      'update runledger.result set rerun_of = null, tag = null where id = (select max(submission_id::text)::uuid from runledger.rerun)',
      1,
    ],
  ] as const) {
    await sql.unsafe(statement)
    t.equal((await drift()).length, repaired, statement)
    t.match(await rebuildProjections(sql), { repaired })
    t.strictSame(await read(), before)
    t.strictSame(await drift(), [])
  }
})
