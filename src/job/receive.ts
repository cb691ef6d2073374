// The intake: what requests submit goes to runledger.receive (sql/functions/receive.sql), which has the theory. Requests that
// come at once share its statement and commit (database/batch.ts); each is received or refused by itself.
import { cancelOnAbort, createBatch, json } from '#database'
import type { Batch, Database } from '#database'
import { reachFailpoint } from './failpoint.ts'
import { describeIntake } from './submission.ts'
import type { Intake, Submission, SubmissionContext } from './submission.ts'

/** Nothing of the request was written. */
export interface Refusal {
  /** `key_refused`: the key is not valid any more. `blob_missing`: one that it names was purged just now. */
  readonly kind: 'queue_full' | 'key_refused' | 'blob_missing'
}

/** The idempotency key stands for an earlier request. */
export interface Replay {
  readonly kind: 'replayed'
  /** Its first submission. */
  readonly id: string
  /** It was the same request. */
  readonly matches: boolean
}

export type IntakeOutcome = { readonly kind: 'received'; readonly id: string } | Replay | Refusal

/** `answer`: of an earlier batch. */
type Outcome =
  { readonly kind: 'received' } | (Replay & { readonly answer: string | null }) | Refusal

interface OutcomeRow {
  /** The request's place, from 1. */
  readonly n: number
  readonly outcome: Outcome['kind']
  readonly earlier_id: string
  readonly matches: boolean
  readonly batch_answer: string | null
}

/**
 * Receives a request: all of its submissions or none. `received` means that they are on disk if the context says `durable`.
 * @param signal withdraws an unsent statement.
 */
export type Receive = (intake: Intake, signal: AbortSignal) => Promise<Outcome>

interface Bounds {
  /** Under way at most. */
  readonly statements: number
  /** Requests in one statement at most. */
  readonly items: number
}

/** One for all that a process receives. @param bounds other ones than the usual. */
export function createReceive(sql: Database, bounds?: Bounds): Receive {
  const create = (durable: boolean, statements: number): Batch<Intake, Outcome> =>
    createBatch({
      run: (intakes, signals) => receiveSet(sql, intakes, durable, signals),
      countBytes: ({ bytes }) => bytes,
      ...(bounds ?? { statements, items: 32 }),
    })
  // While one waits for the disk, another works. What does not wait is cheaper the more go together.
  const [durably, soon] = [create(true, 2), create(false, 1)]
  return (intake, signal) => (intake.durable ? durably : soon)(intake, signal)
}

/** Receives a request of one submission. */
export async function receiveSubmission(
  receive: Receive,
  id: string,
  submission: Submission,
  context: SubmissionContext,
  signal: AbortSignal,
): Promise<IntakeOutcome> {
  const outcome = await receive(describeIntake([{ id, submission }], context), signal)
  return outcome.kind === 'received' ? { kind: 'received', id } : outcome
}

async function receiveSet(
  sql: Database,
  intakes: readonly Intake[],
  durable: boolean,
  signals: readonly AbortSignal[],
): Promise<readonly Outcome[]> {
  const requests = intakes.map(({ request }) => request)
  const submissions = intakes.flatMap(({ submissions: own }, n) =>
    own.map((submission) => ({ request: n + 1, ...submission })),
  )
  const query = sql<OutcomeRow[]>`
    select * from runledger.receive(${json(sql, requests)}, ${json(sql, submissions)}, ${durable})`
  reachFailpoint('submit.before_commit')
  const rows = await cancelOnAbort(query, ...signals)
  reachFailpoint('submit.after_commit')
  return rows.toSorted((one, other) => one.n - other.n).map(readOutcome)
}

function readOutcome(row: OutcomeRow): Outcome {
  if (row.outcome !== 'replayed') return { kind: row.outcome }
  const { earlier_id: id, matches, batch_answer: answer } = row
  return { kind: 'replayed', id, matches, answer }
}
