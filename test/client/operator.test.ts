// The client's methods for operators against the real server.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createClient, createOperator } from '#client'
import type { Overview, SeriesPoint } from '#client'
import { createDatabase } from '#database'
import { contract } from '../helper/contract.ts'
import { pretendWorker } from '../helper/execution.ts'
import { issueOperatorKey } from '../helper/operator.ts'
import { startFreshServer } from '../helper/server.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const server = await startFreshServer(t)
const { sql, url: databaseUrl } = server
const url = `http://127.0.0.1:${server.port}`
const { key } = await issueOperatorKey(sql)
const { call } = createClient({ url, apiKey: key })
const operator = createOperator({ call })

t.test('its looks have the fields of the contract’s', async (t) => {
  // The compiler compares the fields with the type, the test compares them with the document.
  const overview: Readonly<Record<keyof Overview, true>> = {
    at: true, read_only: true, oldest: true, load: true, languages: true, accounts: true, workers: true,
    recent: true, ledger: true, refusals: true,
  } // prettier-ignore
  const point: Readonly<Record<keyof SeriesPoint, true>> = {
    at: true, seconds: true, received: true, ended: true, failed: true, waiting: true, waited_p95: true, refused: true,
  } // prettier-ignore
  const { Overview: documented } = contract.components.schemas
  t.strictSame(Object.keys(documented?.['properties'] as object).toSorted(), Object.keys(overview).toSorted()) // prettier-ignore
  t.strictSame(Object.keys(await operator.overview()).toSorted(), Object.keys(overview).toSorted())
  const { points } = await operator.series()
  t.equal(points.length, 90)
  t.strictSame(Object.keys(points[0] ?? {}).toSorted(), Object.keys(point).toSorted())
})

t.test('a worker is ordered by one word', async (t) => {
  await pretendWorker(sql, { python: {} })
  const [{ id }] = await sql<[{ id: string }]>`select id from runledger.worker`
  t.match(await operator.order(id, 'pause'), { id, wanted: 'paused', changed: true })
  t.match(await operator.order(id, 'pause'), { changed: false })
  t.match(await operator.order(id, 'resume'), { wanted: 'working' })
  await t.rejects(operator.order('nobody', 'drain'), { status: 404, code: 'not_found' })
})

t.test('many are counted, then changed step by step, and none that came since', async (t) => {
  const caller = await createCaller(sql)
  for (let n = 0; n < 120; n += 1) await submitNew(sql, caller, describeSubmission({ code: '' }))
  const [{ account }] = await sql<[{ account: string }]>`
    select name as account from runledger.account where id = ${caller.accountId}`
  const request = { action: 'cancel', filter: { account } } as const
  const { count, until } = await operator.count(request)
  t.equal(count, 120)
  await sleep(2)
  const late = await submitNew(sql, caller, describeSubmission({ code: '' }))
  const sums: number[] = []
  const onStep = (soFar: { readonly count: number }): unknown => sums.push(soFar.count)
  const answer = await operator.act({ ...request, filter: { account, until } }, { onStep })
  t.match(answer, { count: 120, until })
  t.ok(sums.length > 1, `${sums.length} steps`)
  t.match(await sql`select status from runledger.submission where id = ${late}`, [
    { status: 'queued' },
  ])
  await t.rejects(operator.count({ action: 'rerun', filter: { account } }), {
    code: 'invalid_request',
  })
})

t.test('the key goes to its service alone, whatever the path says', async (t) => {
  for (const path of ['https://example.com/api', '//example.com/api', 'http://['])
    await t.rejects(call('GET', path), TypeError, path)
})

t.test('a step whose answer is lost is asked for again as it was', async (t) => {
  const asked: { readonly dry_run: boolean; readonly filter: { readonly until?: string } }[] = []
  const lossy = createOperator({
    call: async (_method, _path, { body } = {}) => {
      asked.push(body as (typeof asked)[0])
      return { count: 1, until: '2026-01-01T00:00:00.000Z', next: null, busy: false }
    },
  })
  await lossy.act({ action: 'replay', filter: { account: 'a' }, secret: 'whsec_' })
  t.match(asked, [
    { dry_run: true, filter: { until: undefined } },
    { dry_run: false, filter: { account: 'a', until: '2026-01-01T00:00:00.000Z' } },
  ])
  t.notMatch(asked[0], { secret: 'whsec_' })
})

t.test('the ledger is gone through, and again where another walk took the step', async (t) => {
  const [{ count }] = await sql<
    [{ count: number }]
  >`select count(*)::int as count from runledger.event`
  const shares: number[] = []
  const found = await operator.verify({ onStep: (_sum, share) => shares.push(share) })
  t.strictSame(found, { events: count, found: 0, suspects: [] })
  t.equal(shares.at(-1), 1)
  const other = createDatabase({ url: databaseUrl, connections: 1, name: 'other' })
  t.teardown(() => other.end())
  const held = Promise.withResolvers<void>()
  const holding = Promise.withResolvers<void>()
  const walk = other.begin(async (transaction) => {
    await transaction`select pg_advisory_xact_lock(71830, -5)`
    holding.resolve()
    await held.promise
  })
  await holding.promise
  let steps = 0
  const counting = createOperator({
    call: async (...request) => {
      steps += 1
      // The first call is answered that the service is busy, because another verification holds the lock.
      if (steps === 2) {
        held.resolve()
        await walk
      }
      return call(...request)
    },
  })
  t.match(await counting.verify(), { events: count, found: 0 })
  t.ok(steps > 1)
})

t.test('a signal ends it between two steps', async (t) => {
  const signal = AbortSignal.abort(new Error('enough'))
  await t.rejects(operator.verify({ signal }), { message: 'enough' })
  await t.rejects(operator.overview({ signal }), { message: 'enough' })
})

t.test('who may only look, and who submits, is told so', async (t) => {
  const { key: reader } = await issueOperatorKey(sql, { readOnly: true })
  const looking = createOperator(createClient({ url, apiKey: reader }))
  t.match(await looking.overview(), { read_only: true })
  await t.rejects(looking.verify(), { status: 403, code: 'forbidden' })
  const submitting = createOperator(createClient({ url, apiKey: await server.issue() }))
  await t.rejects(submitting.overview(), { status: 403, code: 'forbidden' })
})
