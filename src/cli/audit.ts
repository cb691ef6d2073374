// `audit ID` prints the history of a submission, batch, webhook, key or worker. `audit verify` checks the whole log. `audit
// heads` prints digests to keep elsewhere, or compares the log with kept digests. All of them only read audit views and call
// runledger.verify, so an auditor's login is enough.
import type { Database } from '#database'
import { compareHeads, parseHeads, readHeads, readStream, verifyAll } from '#event'
import type { RecordedEvent } from '#event'
import { describeEvent } from './audit-story.ts'
import type { StoryContext } from './audit-story.ts'
import { readWorkerLife } from './audit-worker.ts'
import type { Moment } from './audit-worker.ts'

/** The lines that a command prints. Its exit status is 1 unless `ok`. */
export interface AuditAnswer {
  readonly lines: readonly string[]
  readonly ok: boolean
}

/** Returns the history of an id, in lines; null when the id has no event and is no worker's. */
export async function printLife(sql: Database, id: string): Promise<AuditAnswer | null> {
  const own = await readStream(sql, id, 'audit.event')
  const [first] = own
  const worker =
    first === undefined || first.type.startsWith('worker.') ? await readWorkerLife(sql, id) : null
  if (worker === null && first === undefined) return null
  const webhookId = (first?.data['webhook'] as { id?: string } | null | undefined)?.id
  const webhook = webhookId === undefined ? [] : await readStream(sql, webhookId, 'audit.event')
  const events = [...own, ...webhook].toSorted((a, b) => a.position - b.position)

  const broken = await sql`
    select position, stream_version, type from audit.broken_chain
    where stream_id in (${id}, ${webhookId ?? id}) order by position`
  const verdict =
    broken.length === 0
      ? `The hashes of its ${events.length} events fit.`
      : `${broken.length} of its ${events.length} events DO NOT FIT their hashes, the first at position ${broken[0]?.['position']} (${broken[0]?.['type']}, version ${broken[0]?.['stream_version']}): the log was changed by hand.`
  return {
    ok: broken.length === 0,
    lines: [
      first === undefined || worker !== null
        ? `worker ${id} of host ${worker?.host}`
        : await introduce(sql, id, first),
      '',
      ...listMoments(own, events, worker?.moments),
      '',
      worker === null ? await describePresent(sql, own) : worker.present,
      events.length === 0 ? null : verdict,
    ].filter((line) => line !== null),
  }
}

/** Lists at most ten ids of event streams and workers. @param part the beginning or end of an id. */
export async function listIds(sql: Database, part: string): Promise<string[]> {
  const wanted = part.toLowerCase()
  const rows = await sql<{ id: string }[]>`
    select known.id from (
      select e.stream_id::text as id from audit.event e where e.stream_version = 1
      union select w.id::text from audit.worker w
    ) known
    where starts_with(known.id, ${wanted}) or right(known.id, ${wanted.length}) = ${wanted}
    limit 10`
  return rows.map(({ id }) => id)
}

export async function verifyLog(
  sql: Database,
  progress: (line: string) => void,
): Promise<AuditAnswer> {
  const { events, first, ...found } = await verifyAll(sql, (share, soFar) => {
    const percent = Math.floor(share * 100)
    progress(`${percent} %: ${soFar.events} events, ${soFar.broken_chain} that do not fit`)
  })
  progress('')
  const { broken_chain: broken, drift, altered_body: altered, invariant } = found
  const complaints = [
    broken > 0 &&
      `${broken} of ${events} events do not fit. The first: ${first.broken_chain}. It was changed, or the event before it was changed or removed.`,
    // A hash chain does not show that its last events are missing, but the projections do.
    drift > 0 &&
      `${drift} rows differ from the log, the first: ${first.drift}. Events were removed, or a table was edited; audit.drift shows both sides.`,
    altered > 0 &&
      `${altered} bodies do not match their hashes in the log, the first: ${first.altered_body}.`,
    invariant > broken + drift &&
      `${invariant} invariants are violated, the first: ${first.invariant}; audit.invariant lists all.`,
  ].filter((line) => line !== false)
  if (complaints.length > 0) return { lines: complaints, ok: false }
  const whole = `${events} events: every hash fits, every projection matches the log, every body is unchanged.`
  return { lines: [whole], ok: true }
}

/** Compares the log with kept digests, or prints the present ones. @param kept the output of an earlier call; null prints. */
export async function auditHeads(sql: Database, kept: string | null): Promise<AuditAnswer> {
  if (kept === null) return { lines: [JSON.stringify(await readHeads(sql))], ok: true }
  const heads = parseHeads(kept)
  if (heads === null) return { lines: ['This is not an output of `audit heads`.'], ok: false }
  const differing = await compareHeads(sql, heads)
  if (differing.length === 0) {
    return {
      lines: [`Up to position ${heads.position} every stream ends as the digests say.`],
      ok: true,
    }
  }
  return {
    ok: false,
    lines: differing.map(
      ({ kept: was, present: is }) =>
        `Streams from ${was.lower} to ${was.upper ?? 'the last'} DO NOT END as they did: ${was.streams} streams of ${was.events} events with the digest ${was.digest}, now ${is.streams} of ${is.events} with ${is.digest}.`,
    ),
  }
}

async function introduce(sql: Database, id: string, first: RecordedEvent): Promise<string> {
  if (first.type !== 'submission.received') return `${first.type.replace(/\..*/, '')} ${id}`
  const [who] = await sql`
    select account.name, k.label, k.name as key_name
    from audit.account
    left join audit.api_key k on k.id::text = ${String(first.data['api_key'])}
    where account.id::text = ${String(first.data['account'])}`
  const named: unknown = who?.['key_name']
  return `submission ${id} of account ${JSON.stringify(who?.['name'] ?? 'unknown')}, key ${String(who?.['label'] ?? 'unknown')}…${typeof named === 'string' ? ` ${JSON.stringify(named)}` : ''}`
}

/** Lists moments in order of time. @param others moments that are not in the log. */
function listMoments(
  own: readonly RecordedEvent[],
  events: readonly RecordedEvent[],
  others: readonly Moment[] = [],
): string[] {
  const context: StoryContext = { receivedAt: own[0]?.at ?? null, startedAt: null, attempt: null }
  const moments = events.map((event): Moment => {
    const text = describeEvent(event, context)
    if (event.type === 'execution.started') {
      context.startedAt = event.at
      context.attempt = Number(event.data['attempt'])
    }
    if (event.type === 'execution.interrupted') context.receivedAt = event.at
    return { at: event.at, text }
  })
  const all =
    others.length === 0
      ? moments
      : [...moments, ...others].toSorted((a, b) => a.at.getTime() - b.at.getTime())
  return all.map(({ at, text }) => `${at.toISOString()}  ${text}`)
}

const endWords: Readonly<Record<string, string>> = {
  'execution.completed': 'It ended',
  'execution.abandoned': 'It failed, by a fault of the service,',
  'submission.cancelled': 'It was cancelled',
}

/** Describes the present state of a submission: it has ended, waits, or runs. @returns null for another stream. */
async function describePresent(
  sql: Database,
  own: readonly RecordedEvent[],
): Promise<string | null> {
  const [first] = own
  const last = own.findLast(({ type }) => type.startsWith('execution.'))
  if (first?.type !== 'submission.received') return null
  const end = own.find(({ type }) => type in endWords)
  if (end !== undefined) {
    const seconds = (end.at.getTime() - first.at.getTime()) / 1000
    return `${endWords[end.type]} ${seconds.toFixed(3)} s after it was received.`
  }
  if (last?.type !== 'execution.started') return 'It has not ended: it waits in the queue.'
  const isCancelled = own.at(-1)?.type === 'submission.cancel_requested'
  const [worker] = await sql`
    select alive from audit.worker where id::text = ${String(last.data['worker'])}`
  const state =
    worker?.['alive'] === true
      ? 'which is alive'
      : `which is gone: ${isCancelled ? 'the cancel ends it' : 'it will be run again'}`
  return `It has not ended: it runs on worker ${String(last.data['worker'])}, ${state}.`
}
