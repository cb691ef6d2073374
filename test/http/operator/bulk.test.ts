// Bulk actions of operators: counted first, done in steps, on exactly the submissions that fit, with an event for each.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import type { Caller } from '#account'
import { readStream } from '#event'
import { finish, pretendWorker, recordDelivery, startExecution } from '../../helper/execution.ts'
import { findBroken, listTypes } from '../../helper/ledger.ts'
import { issueOperatorKey } from '../../helper/operator.ts'
import { pathsOf, startFreshServer, startServer } from '../../helper/server.ts'
import type { Answer } from '../../helper/server.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'

const { call, issue, sql, url } = await startFreshServer(t, { role: 'runledger_api' })
const operator = await issueOperatorKey(sql)
const act = (body: object, key = operator.key): Promise<Answer> =>
  call('POST', '/api/operator/bulk', { key, body })

const nameOf = async ({ accountId }: Caller): Promise<string> =>
  (await sql<[{ name: string }]>`select name from runledger.account where id = ${accountId}`)[0]
    .name

/** Repeats the action until there is no next step. @returns how many items were changed. */
async function actOnAll(body: object, begin: string | null = null): Promise<number> {
  let sum = 0
  for (let after = begin; ;) {
    const { status, body: step } = await act({ ...body, dry_run: false, after })
    if (status !== 200) throw new Error(JSON.stringify(step))
    sum += step.count as number
    if (step.next === null) return sum
    after = step.next as string
  }
}

t.test('what waits and runs is counted, then cancelled, and no other', async (t) => {
  const [caller, other] = [await createCaller(sql), await createCaller(sql)]
  const ids: string[] = []
  for (let n = 0; n < 5; n += 1)
    ids.push(await submitNew(sql, caller, describeSubmission({ code: '' })))
  const foreign = await submitNew(sql, other, describeSubmission({ code: '' }))
  const ended = await submitNew(sql, caller, describeSubmission({ code: '' }))
  await finish(sql, ended)
  await startExecution(sql, ids[0] ?? '')
  const account = await nameOf(caller)
  const body = { action: 'cancel', filter: { account } }

  t.match(await act({ ...body, dry_run: true }), { status: 200, body: { count: 5, next: null, until: String } }) // prettier-ignore
  t.match((await act({ ...body, filter: { account, status: 'queued' }, dry_run: true })).body, { count: 4 }) // prettier-ignore
  t.match((await act({ ...body, filter: { account, language: 'cpp' }, dry_run: true })).body, { count: 0 }) // prettier-ignore
  t.match((await act({ ...body, filter: { account: 'nobody' }, dry_run: true })).body, { count: 0 })
  t.match((await act({ ...body, filter: { account, until: '2020-01-01T00:00:00Z' }, dry_run: true })).body, { count: 0 }) // prettier-ignore
  t.strictSame((await readStream(sql, ids[1] ?? '')).length, 1, 'counting changes nothing')

  t.equal(await actOnAll(body), 5)
  const told = (await listTypes(sql, ids[0]!)).at(-1)
  t.equal(told, 'submission.cancel_requested', 'its worker is told')
  for (const id of ids.slice(1)) {
    const last = (await readStream(sql, id)).at(-1)
    t.match(last, {
      type: 'submission.cancelled',
      metadata: { request: String, actor: { api_key: operator.id } },
    })
  }
  t.equal((await listTypes(sql, foreign)).at(-1), 'submission.received')
  t.equal((await listTypes(sql, ended)).at(-1), 'execution.completed')
  t.match((await act({ ...body, filter: { account, status: 'queued' }, dry_run: true })).body, { count: 0 }) // prettier-ignore
})

t.test('more than a step takes several, each bounded', async (t) => {
  const caller = await createCaller(sql)
  for (let n = 0; n < 130; n += 1) await submitNew(sql, caller, describeSubmission({ code: '' }))
  const body = { action: 'cancel', filter: { account: await nameOf(caller) } }
  const first = (await act({ ...body, dry_run: false })).body
  t.ok(first.count > 0 && first.count <= 100, `${first.count} at first`)
  t.not(first.next, null)
  t.equal(await actOnAll(body), 130 - first.count)
})

t.test('what has ended is repeated once under one campaign, with room for ten', async (t) => {
  await pretendWorker(sql, { python: {} })
  const caller = await createCaller(sql)
  const ids: string[] = []
  for (let n = 0; n < 12; n += 1) {
    const id = await submitNew(sql, caller, describeSubmission({ code: 'print(1)' }))
    await finish(sql, id, { verdict: n === 0 ? 'WA' : 'AC' })
    ids.push(id)
  }
  const filter = { account: await nameOf(caller), since: new Date(Date.now() - 600_000).toISOString() } // prettier-ignore
  const body = { action: 'rerun', filter, campaign: `campaign ${uuidv7()}` }
  t.match((await act({ ...body, dry_run: true })).body, { count: 12 })
  t.match((await act({ ...body, filter: { ...filter, verdict: 'WA' }, dry_run: true })).body, { count: 1 }) // prettier-ignore
  // A step ends after a second, however far it is.
  let step = { count: 0, busy: false, next: null as string | null }
  for (let sum = 0; !step.busy; sum += step.count) {
    t.ok(sum < 10, `${sum} so far`)
    step = (await act({ ...body, dry_run: false, after: step.next })).body
    t.equal(step.next !== null, true)
  }
  t.equal(step.next, ids[9])
  const under = await sql<{ submission_id: string }[]>`
    select submission_id from runledger.rerun where campaign = ${body.campaign}`
  t.equal(under.length, 10)
  const [received] = await readStream(sql, under[0]?.submission_id ?? '')
  t.match(received, {
    data: { priority: 'low', campaign: body.campaign },
    metadata: { actor: { api_key: operator.id } },
  })
  for (const { submission_id: id } of under) await finish(sql, id)
  t.equal(await actOnAll(body, step.next), 2)
  t.match((await act({ ...body, dry_run: true })).body, { count: 0 }, 'all have been')
})

t.test('what no one worker has the languages for is not repeated', async (t) => {
  await sql`delete from runledger.worker`
  await pretendWorker(sql, { python: {} })
  await pretendWorker(sql, { cpp: {} })
  const caller = await createCaller(sql)
  const checker = { type: 'program', language: 'cpp', code: '' } as const
  for (const options of [{}, { tests: [{}], checker }])
    await finish(sql, await submitNew(sql, caller, describeSubmission({ code: '', options }))) // prettier-ignore
  const filter = { account: await nameOf(caller), since: new Date(Date.now() - 600_000).toISOString() } // prettier-ignore
  const body = { action: 'rerun', filter, campaign: `campaign ${uuidv7()}`, dry_run: true }
  t.match((await act(body)).body, { count: 1 })
  await pretendWorker(sql, { python: {}, cpp: {} })
  t.match((await act(body)).body, { count: 2 })
})

const givenUp = { outcome: 'refused', abandonedBecause: 'gone' } as const

t.test('webhooks of an account that ended are sent again, with the given secret', async (t) => {
  const caller = await createCaller(sql)
  const webhook = { url: 'https://example.com/secret-path', secret: 'old' }
  const ids: string[] = []
  for (let n = 0; n < 3; n += 1) {
    const id = await submitNew(sql, caller, describeSubmission({ code: '', webhook }))
    await finish(sql, id)
    ids.push(id)
  }
  await recordDelivery(sql, ids[0] ?? '', givenUp)
  await recordDelivery(sql, ids[1] ?? '', { outcome: 'delivered' })
  const filter = { account: await nameOf(caller) }
  const body = { action: 'replay', filter, secret: 'new secret' }
  t.match((await act({ action: 'replay', filter, dry_run: true })).body, { count: 2 })
  t.match((await act({ ...body, filter: { ...filter, webhook: 'abandoned' }, dry_run: true })).body, { count: 1 }) // prettier-ignore
  const { until } = (await act({ action: 'replay', filter, dry_run: true })).body
  const counted = { ...body, filter: { ...filter, until } }
  t.equal(await actOnAll(counted), 2)
  const rows = await sql`
    select d.state, d.secret, d.webhook_id as id from runledger.delivery d where d.submission_id = any (${ids})
    order by d.submission_id`
  t.match(rows, [
    { state: 'pending', secret: 'new secret' },
    { state: 'pending', secret: 'new secret' },
    { state: 'pending', secret: 'old' },
  ])
  const events = await readStream(sql, rows[0]?.['id'] as string)
  const told = events.at(-1)
  t.match(told, { type: 'webhook.replayed', metadata: { actor: { api_key: operator.id } } })
  t.notMatch(JSON.stringify(events), 'new secret')

  // The webhooks end again before a step is repeated because its answer was lost.
  await recordDelivery(sql, ids[0] ?? '', givenUp)
  await recordDelivery(sql, ids[1] ?? '', { outcome: 'delivered' })
  t.equal(await actOnAll(counted), 0)
  t.equal(await actOnAll(body), 2, 'later they may be sent once more')
})

t.test('who may not, may not even count; what is not right is told at once', async (t) => {
  const body = { action: 'cancel', filter: {}, dry_run: true }
  const reader = await issueOperatorKey(sql, { readOnly: true })
  t.match(await act(body, reader.key), { status: 403 })
  t.match(await act(body, await issue()), { status: 403 })
  const rows: readonly (readonly [object, readonly string[]])[] = [
    [{}, ['action', 'filter', 'dry_run']],
    [{ ...body, action: 'delete' }, ['action']],
    [{ ...body, dry_run: 'x', after: 1, at_once: 'x', filter: { since: 1, status: 1, verdict: 'OK', webhook: 1 } }, ['dry_run', 'after', 'at_once', 'filter.since', 'filter.status', 'filter.verdict', 'filter.webhook']], // prettier-ignore
    [{ ...body, filter: { colour: 'red', since: 'yesterday' } }, ['filter.since', 'filter.colour']],
    [{ ...body, after: 'there' }, ['after']],
    [{ ...body, action: 'rerun' }, ['campaign', 'filter.since']],
    [{ ...body, action: 'replay', dry_run: false }, ['filter.account', 'secret']],
    [{ ...body, campaign: 'x', secret: 'y', filter: { webhook: 'delivered' } }, ['campaign', 'secret', 'filter.webhook']], // prettier-ignore
  ]
  for (const [wrong, paths] of rows) {
    const answer = await act(wrong)
    t.equal(answer.status, 400)
    t.strictSame(pathsOf(answer).toSorted(), paths.toSorted())
    t.notMatch(answer.body.message, /Invalid/, 'in our own words')
  }
})

t.test('reruns leave half of the queue to those who submit', async (t) => {
  await pretendWorker(sql, { python: {} })
  const caller = await createCaller(sql)
  const id = await submitNew(sql, caller, describeSubmission({ code: '' }))
  await finish(sql, id)
  const filter = { account: await nameOf(caller), since: '2020-01-01T00:00:00Z' }
  const body = { action: 'rerun', filter, campaign: `campaign ${uuidv7()}`, dry_run: false }
  const [{ count }] = await sql<[{ count: number }]>`
    select count(*) as count from runledger.pending`
  for (const [queueCapacity, expected] of [
    [2 * count + 1, { count: 0, busy: true }],
    [2 * count + 2, { count: 1, busy: false }],
  ] as const) {
    const narrow = await startServer(t, sql, { url: `${url}?role=runledger_api`, queueCapacity })
    const answer = await narrow.call('POST', '/api/operator/bulk', { key: operator.key, body })
    t.match(answer.body, expected)
  }
})

t.test('a time is one that the calendar has, in any zone', async (t) => {
  const count = (since: string) => act({ action: 'cancel', filter: { since }, dry_run: true })
  for (const since of ['2030-02-30T00:00:00Z', '0000-01-01T00:00:00Z', '0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00', '2030-01-01T24:00:00Z']) // prettier-ignore
    t.match(await count(since), { status: 400, body: { issues: [{ path: 'filter.since' }] } }, since) // prettier-ignore
  for (const since of [
    '2028-02-29T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '2030-01-01T00:00:00.5+23:00',
  ])
    t.match(await count(since), { status: 200 }, since)
})

t.test('the log and what is made from it agree', async (t) => {
  t.strictSame(await findBroken(sql), [])
})
