// The reconciler's check of the ledger: what it finds and when, which process checks, and what a check may read.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { firstId } from '#id'
import { createLog } from '#log'
import { rebuildProjections } from '#result'
import { startSweep } from '#sweep'
import { openTestDatabase } from '../helper/database.ts'
import { finish } from '../helper/execution.ts'
import { secondsUntil } from '../helper/outage.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const { sql } = await openTestDatabase(t)
const caller = await createCaller(sql)
const ids: string[] = []
for (let count = 0; count < 8; count += 1) {
  const id = await submitNew(sql, caller, describeSubmission({ code: `print(${count})` }))
  await finish(sql, id)
  ids.push(id)
}
const [oldest = '', second = ''] = ids

interface Look {
  readonly drift: number
  readonly broken_chain: number
  readonly invariant: number
  readonly walked: boolean
  /** The streams that the check returned. */
  readonly found: readonly string[]
}
const nothing = { drift: 0, broken_chain: 0, invariant: 0 }

/** Checks the ledger, however recently it was checked before. */
async function look(events = 1000): Promise<Look> {
  await sql`update runledger.ledger_check set checked_at = null, walked_at = null`
  const [call] = await sql`select runledger.check_ledger(${events}) as found`
  const [row] = await sql`
    select drift, broken_chain, invariant, walked_at is not null as walked from runledger.ledger_check`
  return { ...row, found: call?.['found'] } as unknown as Look
}

/**
 * Checks two events at a time, until `until` holds or the walk has passed through the log. Two are so few that the oldest
 * event is not among the newest, which each check reads too.
 */
async function walk(until: (seen: Look) => boolean): Promise<Look> {
  await sql`update runledger.ledger_check set walked_up_to = '00000000-0000-0000-0000-000000000000'`
  for (;;) {
    const seen = await look(2)
    if (until(seen) || seen.walked) return seen
  }
}

t.test('nothing is found where nothing is wrong, and the walk comes to its end', async (t) => {
  t.match(await look(), { ...nothing, walked: true, found: [] })
  t.match(await walk(() => false), { ...nothing, walked: true })
})

t.test('one process looks, and the others see that it has', async (t) => {
  await look()
  const readAt = async (): Promise<unknown> =>
    (await sql`select checked_at::text as at from runledger.ledger_check`)[0]?.['at']
  const before = await readAt()
  await sql`select runledger.check_ledger(1000)`
  t.equal(await readAt(), before, 'it was looked at a moment ago')
  await sql`update runledger.ledger_check set checked_at = now() - interval '10 seconds'`
  const old = await readAt()
  const other = await sql.reserve()
  await other`begin`
  await other`select pg_advisory_xact_lock(71830, -5)`
  await sql`select runledger.check_ledger(1000)`
  t.equal(await readAt(), old, 'another one is looking')
  await other`rollback`
  other.release()
  await sql`select runledger.check_ledger(1000)`
  t.not(await readAt(), old)
})

t.test(
  'a result that was edited is found by the walk, kept in view, and forgotten once repaired',
  async (t) => {
    await sql`update runledger.result set verdict = 'RE' where id = ${oldest}`
    await sql`update runledger.ledger_check set walked_up_to = ${ids.at(-1) ?? ''}`
    t.match(await look(2), nothing, 'neither new nor next')
    const seen = await walk(({ drift }) => drift > 0)
    t.match(seen, { drift: 1, broken_chain: 0, invariant: 1, found: [oldest] })
    t.match(await look(2), { drift: 1, invariant: 1, found: [] }, 'although the walk went on')
    await rebuildProjections(sql)
    t.match(await look(2), nothing)
  },
)

t.test('rows that the log knows nothing of are found', async (t) => {
  const stranger = uuidv7()
  await sql`
    insert into runledger.result
    select (jsonb_populate_record(r, jsonb_build_object('id', ${stranger}::text))).*
    from runledger.submission r where id = ${oldest}`
  await sql`
    insert into runledger.pending (submission_id, account_id, api_key_id, admitted, language, version, hash, created_at)
    values (${uuidv7()}, ${caller.accountId}, ${caller.apiKeyId}, false, 'python', 1, '', now())`
  await sql`
    insert into runledger.delivery (submission_id, webhook_id, secret) values (${uuidv7()}, ${uuidv7()}, 's')`
  // The result also lacks a body, which is the fourth finding.
  t.match(await look(), { drift: 3, broken_chain: 0, invariant: 4 })
  await rebuildProjections(sql)
  t.match(await look(), nothing)
})

t.test('a promise of a webhook that is broken is found under the webhook', async (t) => {
  const webhook = { url: 'https://hooks.example/', secret: 'secret' }
  const id = await submitNew(sql, caller, describeSubmission({ code: '', webhook }))
  await sql`update runledger.delivery set secret = null where submission_id = ${id}`
  t.match(await look(), { drift: 0, broken_chain: 0, invariant: 1 })
  await sql`update runledger.delivery set secret = 's' where submission_id = ${id}`
  t.match(await look(), nothing)
})

t.test('the process that finds something first says so in its log', async (t) => {
  const lines: string[] = []
  const log = createLog('test', 'error', { write: (line) => void lines.push(line) })
  await sql`update runledger.result set verdict = 'RE' where id = ${second}`
  await sql`update runledger.ledger_check set checked_at = null`
  const sweep = startSweep(sql, log)
  t.ok((await secondsUntil(async () => lines.length > 0)) < 60)
  await sweep.stop()
  t.match(JSON.parse(lines[0] ?? ''), { msg: 'ledger.finding', streams: [second] })
  await rebuildProjections(sql)
})

t.test('a look reads by index alone, of a list and of a range', async (t) => {
  interface Plan {
    readonly 'Node Type': string
    readonly 'Relation Name'?: string
    readonly 'Index Cond'?: string
    readonly Plans?: readonly Plan[]
  }
  const unbounded = (plan: Plan): string[] => [
    ...(plan['Relation Name'] !== undefined &&
    plan['Node Type'] !== 'Bitmap Heap Scan' &&
    plan['Index Cond'] === undefined
      ? [`${plan['Node Type']} of ${plan['Relation Name']}`]
      : []),
    ...(plan.Plans ?? []).flatMap(unbounded),
  ]
  const [settings] = await sql<[{ all: readonly string[] }]>`
    select proconfig as all from pg_proc where oid = 'runledger.verify'::regproc`
  for (const condition of [
    `= any ('{${ids.join()}}')`,
    `> '${firstId}' and stream <= '${ids.at(-1)}'`,
    `> '${ids[0]}' and stream <= 'ffffffff-ffff-ffff-ffff-ffffffffffff'`,
  ]) {
    await sql.begin(async (inside) => {
      for (const setting of settings.all) {
        const [name = '', value = ''] = setting.split('=')
        await inside`select set_config(${name}, ${value.replaceAll('"', '')}, true)`
      }
      const [row] = await inside.unsafe<[{ 'QUERY PLAN': readonly [{ Plan: Plan }] }]>(
        `explain (format json) select from runledger.finding where stream ${condition}`,
      )
      t.strictSame(unbounded(row['QUERY PLAN'][0].Plan), [], condition)
    })
  }
})

t.test('an event that does not fit its hash is found', async (t) => {
  const stream = uuidv7()
  await sql`
    insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash)
    values (${stream}, 1, 'a.b', 1, '{}', '{}', now(), 'forged')`
  t.match(await look(), { drift: 0, broken_chain: 1, invariant: 1, found: [stream] })
})
