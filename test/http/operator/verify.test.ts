// An operator has the whole ledger verified: each step reads a bounded part of it, and everything found is reported.
import t from 'tap'
import { createDatabase } from '#database'
import { finish } from '../../helper/execution.ts'
import { issueOperatorKey } from '../../helper/operator.ts'
import { startFreshServer } from '../../helper/server.ts'
import type { Answer } from '../../helper/server.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'

const { call, issue, sql, url } = await startFreshServer(t, { role: 'runledger_api' })
const { key } = await issueOperatorKey(sql)
const step = (body: object, as = key): Promise<Answer> =>
  call('POST', '/api/operator/verify', { key: as, body })

interface Sum {
  events: number
  drift: number
  broken_chain: number
  invariant: number
  suspects: string[]
  steps: number
}

async function walk(): Promise<Sum> {
  const sum: Sum = { events: 0, drift: 0, broken_chain: 0, invariant: 0, suspects: [], steps: 0 }
  let share = 0
  for (let after: string | null = null; ;) {
    const { status, body } = await step({ after })
    if (status === 503) continue // a busy machine
    if (status !== 200) throw new Error(JSON.stringify(body))
    if (body.busy === true) continue
    for (const name of ['events', 'drift', 'broken_chain', 'invariant'] as const)
      sum[name] += body[name] as number
    sum.suspects.push(...(body.suspects as string[]))
    sum.steps += 1
    t.ok(body.share >= share && body.share <= 1, 'the share only grows')
    share = body.share as number
    if (body.next === null) return sum
    after = body.next as string
  }
}

async function countEvents(): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select count(*) as count from runledger.event`
  return row.count
}

t.test('all of a whole ledger is gone through, in steps', async (t) => {
  const caller = await createCaller(sql)
  const ids = await Promise.all(
    Array.from({ length: 450 }, () => submitNew(sql, caller, describeSubmission({ code: '' }))),
  )
  for (const id of ids.slice(0, 400)) await finish(sql, id)
  const sum = await walk()
  t.equal(sum.events, await countEvents())
  t.ok(sum.steps > 1, `${sum.steps} steps`)
  t.match(sum, { drift: 0, broken_chain: 0, invariant: 0, suspects: [] })
})

t.test('what was changed by hand is found, wherever it is', async (t) => {
  const [first, last] = await sql<[{ id: string }, { id: string }]>`
    (select id from runledger.submission order by id limit 1) union all (select id from runledger.submission order by id desc limit 1)`
  await sql`update runledger.result set language = 'cpp' where id = ${first.id}`
  await sql`update runledger.pending set language = 'cpp' where submission_id = ${last.id}`
  const sum = await walk()
  t.match(sum, { drift: 2, broken_chain: 0, invariant: 2 })
  t.strictSame(sum.suspects.toSorted(), [first.id, last.id].toSorted())
  await sql`update runledger.result set language = 'python'`
  await sql`update runledger.pending set language = 'python'`
})

t.test('one walk steps at a time', async (t) => {
  const other = createDatabase({ url, connections: 1, name: 'other' })
  t.teardown(() => other.end())
  await other.begin(async (transaction) => {
    await transaction`select pg_advisory_xact_lock(71830, -5)`
    t.match(await step({}), { status: 200, body: { busy: true, events: 0, share: null } })
  })
  t.match(await step({}), { status: 200, body: { busy: false } })
})

t.test('who may not, may not; what is no step is none', async (t) => {
  const reader = await issueOperatorKey(sql, { readOnly: true })
  t.match(await step({}, reader.key), { status: 403 })
  t.match(await step({}, await issue()), { status: 403 })
  t.match(await step({ after: 'here' }), { status: 400, body: { issues: [{ path: 'after' }] } })
  t.match(await step({ from: null }), { status: 400, body: { issues: [{ path: 'from' }] } })
})
