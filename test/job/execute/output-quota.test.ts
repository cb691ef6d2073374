// The daily quota of an account's outputs: a worker counts its own outputs at once, and the database adds those of others.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { issueKey, revokeKey, setTier } from '#account'
import { createLog } from '#log'
import { decodeReport } from '#report'
import { digestBody } from '#event'
import { describeOutcome } from '../../../src/job/execute/completion.ts'
import type { Completion } from '../../../src/job/execute/completion.ts'
import { createOutputQuotas } from '../../../src/job/execute/output-quota.ts'
import type { JudgedTests } from '../../../src/job/execute/tests.ts'
import { openTestDatabase } from '../../helper/database.ts'
import { describePhase } from '../../helper/executor.ts'

const { sql } = await openTestDatabase(t)
const log = createLog('test', 'silent')

await setTier(sql, { name: 'small', output_bytes: 1000 }, 'test')

/** Creates an account with a key of each tier. @returns its id. */
async function createAccount(...tiers: string[]): Promise<string> {
  const account = `account ${randomUUID()}`
  for (const tier of tiers) await issueKey(sql, { account, tier }, 'test')
  const [{ id }] = await sql<[{ id: string }]>`select id from audit.account where name = ${account}`
  return id
}

const keptToday = async (id: string): Promise<number> =>
  (await sql`select output_bytes_today as bytes from audit.account where id = ${id}`)[0]?.['bytes']

const bodies = (bytes: number): Omit<Completion, 'data'> => ({
  stdout: Buffer.alloc(bytes - 3),
  stderr: Buffer.alloc(1),
  compileOutput: Buffer.alloc(1),
  report: Buffer.alloc(1),
})

t.test('what is kept counts at once, and for other workers when it was told', async (t) => {
  const [one, other] = [createOutputQuotas(sql, log), createOutputQuotas(sql, log)]
  const [account, free] = [await createAccount('small'), await createAccount('unlimited')]
  one.note(account, bodies(600))
  one.note(free, bodies(10_000))
  t.notOk(one.isUsedUp(account), 'nothing is known of its day')
  await one.report()
  t.equal(await keptToday(account), 600)
  one.note(account, bodies(399))
  t.notOk(one.isUsedUp(account))
  other.note(account, bodies(5))
  await other.report()
  t.notOk(other.isUsedUp(account))
  one.note(account, bodies(3))
  t.ok(one.isUsedUp(account))
  await one.report()
  t.ok(one.isUsedUp(account))
  other.note(account, bodies(4))
  await other.report()
  t.ok(other.isUsedUp(account))
  t.equal(await keptToday(account), 1011)
  t.equal(await keptToday(free), 10_000)
  t.notOk(one.isUsedUp(free))

  await sql`update runledger.kept_output set day = day - 2`
  await other.report()
  t.notOk(other.isUsedUp(account), 'it is another day')
  t.equal(await keptToday(account), 0)
  t.strictSame([...(await sql`select * from runledger.kept_output`)], [])
})

t.test('of several keys in force the widest counts, of none the narrowest', async (t) => {
  const account = await createAccount('small', 'beta')
  const quotas = createOutputQuotas(sql, log)
  quotas.note(account, bodies(1001))
  await quotas.report()
  t.notOk(quotas.isUsedUp(account))
  const keys = await sql<{ id: string }[]>`
    select k.id from runledger.api_key k where k.account_id = ${account} order by k.tier`
  for (const { id } of keys) {
    await revokeKey(sql, id, 'test')
    quotas.note(account, bodies(4))
    await quotas.report()
    t.ok(quotas.isUsedUp(account))
  }
})

t.test('what could not be told is told later', async (t) => {
  const account = await createAccount('small')
  const quotas = createOutputQuotas(sql, log)
  await sql`alter table runledger.kept_output rename to kept_output_away`
  quotas.note(account, bodies(2000))
  await quotas.report()
  t.notOk(quotas.isUsedUp(account))
  await sql`alter table runledger.kept_output_away rename to kept_output`
  await quotas.report()
  t.ok(quotas.isUsedUp(account))
  t.equal(await keptToday(account), 2000)
})

t.test('of an account that is gone nothing is counted', async (t) => {
  const quotas = createOutputQuotas(sql, log)
  const account = randomUUID()
  quotas.note(account, bodies(2000))
  await quotas.report()
  t.notOk(quotas.isUsedUp(account))
})

t.test('the beginning of each output is kept, and told as truncated', async (t) => {
  const long = Buffer.alloc(5000, 'x')
  const test = {
    name: null, verdict: 'AC', exit_code: 0, signal: null, limit: null, difference: null, message: null,
    cpu_time: 0, wall_time: 0, memory_peak: 0,
    stdout: Buffer.alloc(3000, 'y'), stderr: Buffer.from('z'), stdout_truncated: false, stderr_truncated: true,
  } as const // prettier-ignore
  const groups = [{ name: 'a', passed: true, score: 2, max_score: 2 }]
  const content = Buffer.from('a')
  const compile = describePhase({ stdout: content, stderr: long })
  const outputFiles = [{ name: 'a', size: 1, content }]
  const run = describePhase({ stdout: long, stderr: Buffer.from('e'), outputFiles })
  const tests: JudgedTests = {
    decisive: { verdict: 'WA', limit: null, difference: null, run },
    stopped: null,
    most: { cpu_time: 0, wall_time: 0, memory_peak: 0 },
    facts: [{ verdict: 'AC' }, { verdict: 'AC' }],
    reports: [test, test],
    score: { score: 2, max_score: 2, groups },
    inputs: [],
    onRun: async () => true,
  }
  const outcome = { compile, compileCached: false, run }
  const expected = { stdout: null, checker: undefined }
  const finished = { outcome, expected, tests, asksFiles: true, wasStopped: false, blobs: undefined, slotSeconds: 0 } // prettier-ignore
  const completion = await describeOutcome(finished, true)
  const { data, stdout, stderr, compileOutput, report: kept } = completion
  t.equal(data.verdict, 'WA')
  const part = Buffer.alloc(4096, 'x')
  t.strictSame([Buffer.from(stdout), Buffer.from(compileOutput ?? [])], [part, part])
  t.equal(String(stderr), 'e')
  t.strictSame(data.stdout, { ...digestBody(part), truncated: true })
  t.strictSame(data.stderr, { ...digestBody(Buffer.from('e')), truncated: false })
  t.strictSame(data.compile_output, { ...digestBody(part), truncated: true })
  t.strictSame(data.files, [{ name: 'a', bytes: 1 }])
  t.strictSame(data.report, digestBody(kept ?? Buffer.alloc(0)))
  const told = decodeReport(kept)
  t.strictSame(told.groups, groups, 'points do not depend on the quota')
  t.strictSame(
    told.tests?.map((one) => [one.stdout?.length, one.stdout_truncated, one.stderr_truncated]),
    [
      [3000, false, true],
      [1096, true, true],
    ],
  )
  t.strictSame(told.files, [{ name: 'a', size: 1, sha256: null, content: null }])
  const bare = {
    ...finished,
    outcome: { ...outcome, compile: null },
    tests: null,
    asksFiles: false,
  }
  const plain = await describeOutcome(bare, true)
  t.strictSame([plain.compileOutput, plain.report], [null, null])
})
