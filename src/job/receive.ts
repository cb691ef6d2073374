// The intake: passes submissions to runledger.receive (sql/functions/receive.sql), which documents the rules. Requests that
// come at once share its statement and commit (database/batch.ts), but each is received or refused by itself.
import { cancelOnAbort, createBatch, json } from '#database'
import type { Batch, Database } from '#database'
import { reachFailpoint } from './failpoint.ts'
import { describeIntake } from './submission.ts'
import type { Answer, BatchItem, BatchWebhook, Intake, SubmissionContext } from './submission.ts'

/** A refused request, of which nothing was written. */
export interface Refusal {
  /** `key_refused`: the key is not valid any more. `blob_missing`: a blob that the request names was purged just now. */
  readonly kind: 'queue_full' | 'key_refused' | 'blob_missing'
}

/** A request whose idempotency key belongs to an earlier request. */
export interface Replay {
  readonly kind: 'replayed'
  /** The earlier request's first submission. */
  readonly id: string
  /** True when both requests are the same. */
  readonly matches: boolean
}

export type IntakeOutcome =
  | { readonly kind: 'received'; readonly answer: Answer }
  /** With the answer to the earlier request. */
  | (Replay & { readonly answer: Answer })
  | Refusal

/**
 * Receives the valid submissions of a request, all or none. `received` means that they are on disk if the context says
 * `durable`. A request without valid submissions is not remembered.
 * @param signal withdraws an unsent statement.
 * @param webhook notified once, when all valid submissions have ended.
 */
export type Receive = (
  items: readonly BatchItem[],
  context: SubmissionContext,
  signal: AbortSignal,
  webhook?: BatchWebhook | null,
) => Promise<IntakeOutcome>

interface Bounds {
  /** The most statements under way. */
  readonly statements: number
  /** The most requests in one statement. */
  readonly items: number
}

/** Creates the `Receive` for all requests of a process. @param bounds replace the usual ones. */
export function createReceive(sql: Database, bounds?: Bounds): Receive {
  const create = (durable: boolean, statements: number): Batch<Intake, IntakeOutcome> =>
    createBatch({
      run: (intakes, signals) => receiveSet(sql, intakes, durable, signals),
      countBytes: ({ bytes }) => bytes,
      ...(bounds ?? { statements, items: 32 }),
    })
  // Durable: while one statement waits for the disk, another works. Others do not wait, and are
  // cheaper the more share a statement.
  const [durably, soon] = [create(true, 2), create(false, 1)]

  return async (items, context, signal, webhook = null) => {
    const intake = describeIntake(items, context, webhook)
    if (intake.submissions.length === 0) return { kind: 'received', answer: intake.answer }
    const isBatch = items.length > 1
    if (isBatch) reachFailpoint('batch.before_commit')
    const outcome = await (context.durable ? durably : soon)(intake, signal)
    if (isBatch) reachFailpoint('batch.after_commit')
    return outcome
  }
}

interface OutcomeRow {
  /** The request's position, from 1. */
  readonly n: number
  readonly outcome: IntakeOutcome['kind']
  readonly earlier_id: string
  readonly matches: boolean
  readonly batch_answer: string | null
}

async function receiveSet(
  sql: Database,
  intakes: readonly Intake[],
  durable: boolean,
  signals: readonly AbortSignal[],
): Promise<readonly IntakeOutcome[]> {
  const requests = intakes.map(({ request }) => request)
  const submissions = intakes.flatMap(({ submissions: own }, n) =>
    own.map((submission) => ({ request: n + 1, ...submission })),
  )
  const query = sql<OutcomeRow[]>`
    select * from runledger.receive(${json(sql, requests)}, ${json(sql, submissions)}, ${durable})`
  reachFailpoint('submit.before_commit')
  const rows = await cancelOnAbort(query, ...signals)
  reachFailpoint('submit.after_commit')
  const byNumber = new Map(rows.map((row) => [row.n, row]))
  return intakes.map(({ answer }, n) => readOutcome(byNumber.get(n + 1), answer))
}

/** @param answer to a request that was received now. */
function readOutcome(row: OutcomeRow | undefined, answer: Answer): IntakeOutcome {
  if (row === undefined) throw new Error('runledger.receive returned too few rows')
  const { outcome: kind, earlier_id: id, matches, batch_answer: text } = row
  if (kind === 'received') return { kind, answer }
  if (kind !== 'replayed') return { kind }
  return { kind, id, matches, answer: text === null ? { submissions: [{ id }] } : JSON.parse(text) }
}
