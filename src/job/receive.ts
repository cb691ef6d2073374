// Receives submissions. While statements are under way, those that come wait, and share the next statement and its commit
// (database/batch.ts): that is what a full web process saves, and a lone one waits for nobody.
import { cancelOnAbort, createBatch, errorCode, json, sqlState } from '#database'
import type { Batch, Database } from '#database'
import { encodeDetail } from './detail.ts'
import { reachFailpoint } from './failpoint.ts'
import { describeBodies, describeIdempotency, describeRequest } from './submission.ts'
import type { Submission, SubmissionContext } from './submission.ts'
import { wakeWorkers } from './wake-workers.ts'

export type Reception =
  | { readonly kind: 'received'; readonly id: string }
  /** `matches`: the same request came first under this idempotency key. */
  | { readonly kind: 'replayed'; readonly id: string; readonly matches: boolean }
  | { readonly kind: 'queue_full' }

/** One that is to be received. */
interface Arrival {
  readonly id: string
  readonly submission: Submission
  /** A runledger.submission_request. */
  readonly request: object
}

interface ReceivedRow {
  readonly id: string
  readonly replayed: boolean
  readonly matches: boolean
}

// Bytes of bodies in a shared statement. They are held as base64 here, on their way and in PostgreSQL.
const mostBytes = 128 * 1024

/**
 * One round trip. `received` means that it is on disk; with `toldTo`, only after its end or `flushLog`.
 * @param signal withdraws an unsent statement.
 */
export type Receive = (
  id: string,
  submission: Submission,
  context: SubmissionContext,
  signal: AbortSignal,
) => Promise<Reception>

const receives = new WeakMap<Database, Receive>()

/** Receives as `createReceive` of this database does. */
export async function receiveSubmission(
  sql: Database,
  ...parameters: Parameters<Receive>
): Promise<Reception> {
  const receive = receives.get(sql) ?? createReceive(sql)
  receives.set(sql, receive)
  return receive(...parameters)
}

/** @param bounds statements under way, and submissions in each, at most. */
export function createReceive(
  sql: Database,
  bounds: { readonly statements: number; readonly items: number } = { statements: 2, items: 32 },
): Receive {
  const receiveSet = async (
    arrivals: readonly Arrival[],
    wakes: boolean,
    signals: readonly AbortSignal[],
  ): Promise<readonly Attempted[]> => {
    const receptions =
      arrivals.length > 1 ? await receiveSeveral(sql, arrivals, wakes, signals) : []
    return Promise.all(
      arrivals.map(
        async (arrival, n): Promise<Attempted> =>
          receptions[n] ?? attempt(receiveOne(sql, arrival, wakes, signals[n] ?? never)),
      ),
    )
  }
  const create = (wakes: boolean): Batch<Arrival, Attempted> =>
    createBatch({ run: (arrivals, signals) => receiveSet(arrivals, wakes, signals), ...bounds })
  // What is awaited commits without waiting for the disk, and has woken the workers.
  const [durably, awaited] = [create(true), create(false)]
  return async (id, submission, context, signal) => {
    const { idempotencyKey, capacity, toldTo } = context
    const request = {
      ...describeRequest(id, submission, context),
      ...describeIdempotency(idempotencyKey, [submission]),
      capacity,
      told_to: toldTo,
    }
    const arrival = { id, submission, request }
    const attempted =
      weigh(submission) > mostBytes
        ? await attempt(receiveOne(sql, arrival, toldTo === null, signal))
        : await (toldTo === null ? durably : awaited)(arrival, signal)
    if (attempted.kind === 'failed') throw attempted.error
    return attempted
  }
}

type Attempted = Reception | { readonly kind: 'failed'; readonly error: unknown }

const never = new AbortController().signal

async function attempt(reception: Promise<Reception>): Promise<Attempted> {
  return reception.catch((error: unknown): Attempted => ({ kind: 'failed', error }))
}

async function receiveOne(
  sql: Database,
  { id, submission, request }: Arrival,
  wakes: boolean,
  signal: AbortSignal,
): Promise<Reception> {
  const { code, stdin, expectedStdout } = submission
  const detail = encodeDetail(submission.detail)
  const query = sql<ReceivedRow[]>`
    select * from runledger.receive_submission(${json(sql, request)}, ${code}, ${stdin}, ${expectedStdout}, ${detail})`
  try {
    const [row] = await commit(query, [signal])
    if (row?.replayed === true) return { kind: 'replayed', id: row.id, matches: row.matches }
    if (wakes) wakeWorkers(sql, 1)
    return { kind: 'received', id }
  } catch (error) {
    const refusal = refuse(errorCode(error))
    if (refusal === undefined) throw error
    return refusal
  }
}

async function receiveSeveral(
  sql: Database,
  arrivals: readonly Arrival[],
  wakes: boolean,
  signals: readonly AbortSignal[],
): Promise<readonly (Reception | undefined)[]> {
  const items = arrivals.map(({ submission, request }) => ({
    request,
    ...describeBodies(submission),
  }))
  const query = sql<(ReceivedRow & { readonly refusal: string | null })[]>`
    select * from runledger.receive_several(${json(sql, items)})`
  const rows = await commit(query, signals)
  const receptions = rows.map(({ id, replayed, matches, refusal }): Reception | undefined => {
    if (refusal !== null) return refuse(refusal)
    return replayed ? { kind: 'replayed', id, matches } : { kind: 'received', id }
  })
  const received = receptions.filter((reception) => reception?.kind === 'received').length
  if (wakes && received > 0) wakeWorkers(sql, received)
  return receptions
}

/** Runs the statement that receives them, unless one of the signals comes before it is sent. */
async function commit<Row extends ReceivedRow>(
  query: Parameters<typeof cancelOnAbort<Row[]>>[0],
  signals: readonly AbortSignal[],
): Promise<readonly Row[]> {
  reachFailpoint('submit.before_commit')
  const rows = await cancelOnAbort(query, ...signals)
  reachFailpoint('submit.after_commit')
  return rows
}

/** Undefined: it failed otherwise. */
function refuse(code: string | undefined): Reception | undefined {
  if (code === sqlState.queueFull) return { kind: 'queue_full' }
  return undefined
}

function weigh({ code, stdin, expectedStdout, detail }: Submission): number {
  return [code, stdin, expectedStdout, encodeDetail(detail)].reduce(
    (sum, body) => sum + (body?.byteLength ?? 0),
    0,
  )
}
