// Retention of blobs: unused blobs are purged, blobs that an unfinished submission names stay, and no purge comes between a
// submission that is being received and its blobs.
import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import { findBlobs, purgeBlobs, storeBlob } from '#blob'
import { createId } from '#id'
import { openTestDatabase } from '../helper/database.ts'
import { finish } from '../helper/execution.ts'
import {
  createCaller,
  describeSubmission,
  submit,
  submitNew,
  untilInTime,
} from '../helper/submission.ts'

const { sql } = await openTestDatabase(t)
const caller = await createCaller(sql)
const never = new AbortController().signal

/** Stores a blob that was last used so many days ago. @returns its name. */
async function storeAgo(days: number, bytes: Uint8Array = randomBytes(5000)): Promise<string> {
  const name = createHash('sha256').update(bytes).digest('hex')
  await storeBlob(sql, caller.apiKeyId, name, bytes, never)
  await age(name, days)
  return name
}

async function age(name: string, days: number): Promise<void> {
  await sql`
    update runledger.blob set used_at = now() - make_interval(secs => ${days * 86_400})
    where sha256 = ${Buffer.from(name, 'hex')}`
}

async function isThere(name: string): Promise<boolean> {
  return (await findBlobs(sql, caller.accountId, [name])).size === 1
}

const naming = (...names: string[]): Parameters<typeof submitNew>[2] =>
  describeSubmission({
    code: '',
    options: { tests: names.map((name) => ({ stdin_sha256: name })) },
    blobs: names.map((sha256) => ({ sha256, bytes: 5000 })),
  })

const submitNaming = (...names: string[]): Promise<string> =>
  submitNew(sql, caller, naming(...names))

/** Reruns a submission. @returns the rerun's id, or the reason why there is none. */
async function repeat(id: string): Promise<string> {
  const request = {
    submission_id: createId(),
    api_key_id: caller.apiKeyId,
    capacity: 1000,
    metadata: { request: 'test', actor: { api_key: caller.apiKeyId } },
  }
  const [row] = await untilInTime(
    () => sql`select id, outcome from runledger.rerun_submission(${id}, ${sql.json(request)})`,
  )
  return row?.['outcome'] === 'received' ? (row['id'] as string) : String(row?.['outcome'])
}

const broken = async (): Promise<unknown[]> => [...(await sql`select * from audit.invariant`)]

t.test('what was not used for so long goes with its chunks, and counts no more', async (t) => {
  const [old, larger] = [await storeAgo(31.1), await storeAgo(32, randomBytes(700_000))]
  const [young, recent] = [await storeAgo(30.9), await storeAgo(0)]
  t.equal(await purgeBlobs(sql, 30), 2)
  t.strictSame(await Promise.all([old, larger, young, recent].map(isThere)), [false, false, true, true]) // prettier-ignore
  const [left] = await sql`select count(*) from runledger.blob_chunk`
  t.equal(left?.['count'], 2)
  const [account] =
    await sql`select blob_bytes from runledger.account where id = ${caller.accountId}`
  t.equal(account?.['blob_bytes'], 10_000)
  t.equal(await purgeBlobs(sql, 30), 0)
  t.strictSame(await broken(), [])
})

t.test('more than a batch goes in one pass', async (t) => {
  for (let made = 0; made < 45; made += 1) await storeAgo(40)
  t.equal(await purgeBlobs(sql, 30), 45)
})

t.test('naming a blob, or uploading it again, is a use, written at most twice a day', async (t) => {
  const name = await storeAgo(29)
  const usedAt = async (): Promise<Date> => {
    const [row] = await sql`select used_at from audit.blob where sha256 = ${name}`
    return row?.['used_at'] as Date
  }
  const id = await submitNaming(name)
  await finish(sql, id)
  const first = await usedAt()
  t.ok(Date.now() - first.getTime() < 60_000)
  await finish(sql, await submitNaming(name))
  t.equal((await usedAt()).getTime(), first.getTime())
  await age(name, 40)
  await storeAgo(0)
  t.equal(await purgeBlobs(sql, 30), 1)
})

t.test('what an unfinished submission names stays, however long it waits', async (t) => {
  const [name, other] = [await storeAgo(0), await storeAgo(0)]
  const id = await submitNaming(name)
  await age(name, 100)
  await age(other, 100)
  t.equal(await purgeBlobs(sql, 30), 1)
  t.strictSame([await isThere(name), await isThere(other)], [true, false])
  await finish(sql, id)
  t.equal(await purgeBlobs(sql, 30), 1)
  t.strictSame(await broken(), [])
})

t.test('four hundred names keep their blobs, and fill no event', async (t) => {
  await sql`update runledger.blob set used_at = now() - interval '100 days'`
  await purgeBlobs(sql, 30)
  const names: string[] = []
  for (let made = 0; made < 400; made += 1) names.push(await storeAgo(0))
  const id = await submitNaming(...names)
  await sql`update runledger.blob set used_at = now() - interval '100 days'`
  t.equal(await purgeBlobs(sql, 30), 0, 'it is unfinished')
  t.strictSame(await broken(), [])
  await finish(sql, id)
  const again = await repeat(id)
  t.equal(await purgeBlobs(sql, 30), 0, 'its rerun names them too')
  await finish(sql, again)
  for (const submission of [id, again]) {
    const events = await sql`
      select data ->> 'blob_list' is not null as has_list, octet_length(data::text || metadata::text) as bytes
      from runledger.event where stream_id = ${submission} order by stream_version`
    t.equal(events[0]?.['has_list'], true)
    for (const { bytes } of events) t.ok(bytes <= 8192, `${bytes} bytes`)
  }
  t.strictSame([...(await sql`select * from audit.altered_body`)], [])
  await sql`update runledger.blob set used_at = now() - interval '100 days'`
  t.equal(await purgeBlobs(sql, 30), 400)
  t.equal(await repeat(id), 'purged')
  await sql`
    update runledger.body set blobs = substr(blobs, 33) where submission_id = ${id}`
  t.match(await sql`select submission_id, part from audit.altered_body`, [
    { submission_id: id, part: 'blobs' },
  ])
})

t.test('another account’s unfinished submission keeps nothing of this one', async (t) => {
  const bytes = randomBytes(100)
  const name = await storeAgo(100, bytes)
  const other = await createCaller(sql)
  await storeBlob(sql, other.apiKeyId, name, bytes, never)
  await submitNew(sql, other, naming(name))
  t.equal(await purgeBlobs(sql, 30), 1)
  t.equal(await isThere(name), false)
})

t.test('a purge waits for nobody, and leaves what is being submitted', async (t) => {
  const name = await storeAgo(100)
  await sql.begin(async (receiving) => {
    await receiving`
      select runledger.use_blobs(${[caller.accountId]}::uuid[], array[decode(${name}, 'hex')])`
    t.equal(await purgeBlobs(sql, 30), 0)
  })
  t.equal(await purgeBlobs(sql, 30), 0, 'it was used just now')
  t.equal(await isThere(name), true)
})

t.test('a walk through the log beside it holds nothing up', async (t) => {
  const name = await storeAgo(100)
  await sql.begin(async (walking) => {
    await walking`select runledger.verify(${createId()}, 10)`
    t.equal(await purgeBlobs(sql, 30), 1)
  })
  t.equal(await isThere(name), false)
})

t.test('a submission whose blob is being purged is refused whole', async (t) => {
  const name = await storeAgo(100)
  let refused: Promise<unknown> = Promise.resolve()
  await sql.begin(async (purging) => {
    const [row] = await purging`select runledger.purge_blobs(interval '30 days', 20) as count`
    t.equal(row?.['count'], 1)
    refused = submit(sql, caller, naming(name))
    // The purge commits only when the submission waits for its lock.
    while ((await sql`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%runledger.receive%'`).length === 0); // prettier-ignore
  })
  t.match(await refused, { kind: 'blob_missing' })
  const rows = await sql`select from runledger.pending p join runledger.event e on e.stream_id = p.submission_id where e.data -> 'blobs' @> ${JSON.stringify([{ sha256: name }])}::text::jsonb` // prettier-ignore
  t.equal(rows.length, 0)
})

t.test('an upload of what is being purged stores it anew', async (t) => {
  const bytes = randomBytes(300_000)
  const name = await storeAgo(100, bytes)
  let stored: Promise<unknown> = Promise.resolve()
  await sql.begin(async (purging) => {
    await purging`select runledger.purge_blobs(interval '30 days', 20)`
    stored = storeBlob(sql, caller.apiKeyId, name, bytes, never)
    while ((await sql`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%store_blob%'`).length === 0); // prettier-ignore
  })
  t.equal(await stored, 'new')
  t.equal(await isThere(name), true)
  t.strictSame(await broken(), [])
})

t.test('submissions that name the same old blobs do not hinder one another', async (t) => {
  const names = await Promise.all(Array.from({ length: 20 }, () => storeAgo(20)))
  const shuffled = Array.from({ length: 8 }, (_, turn) => [...names.slice(turn), ...names.slice(0, turn)]) // prettier-ignore
  const receipts = await Promise.all(shuffled.map((order) => submit(sql, caller, naming(...order))))
  t.ok(receipts.every(({ kind }) => kind === 'received'))
})

t.test('nobody adds to a blob, or changes one, that is there', async (t) => {
  const name = await storeAgo(0)
  const digest = Buffer.from(name, 'hex')
  const add = sql`select runledger.add_blob_chunk(${caller.apiKeyId}, ${digest}, 1, 'more')`
  await t.rejects(add, { code: '55000' })
  t.strictSame(await broken(), [])
})

t.test('a store that is given up leaves nothing', async (t) => {
  const bytes = randomBytes(1_000_000)
  const name = createHash('sha256').update(bytes).digest('hex')
  const giveUp = new AbortController()
  const storing = storeBlob(sql, caller.apiKeyId, name, bytes, giveUp.signal)
  giveUp.abort(new Error('given up'))
  await t.rejects(storing)
  t.equal(await isThere(name), false)
  t.strictSame(await broken(), [])
})
