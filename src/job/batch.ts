// Several submissions of one request: all the good ones or none, in one transaction.
import { v7 as uuidv7 } from 'uuid'
import { cancelOnAbort, errorCode, json, sqlState } from '#database'
import type { Database } from '#database'
import { schemaVersion } from '#event'
import { passMilestone } from './milestone.ts'
import { describeCause, describeReceived, digestRequest } from './submission.ts'
import type { Circumstances, Submission } from './submission.ts'
import { wakeWorkers } from './wake-workers.ts'

/** The answer to one item: the id of a good one, or what the caller gave for a refused one. */
export type BatchAnswer = { readonly id: string } | object

/** What became of a batch. */
export type BatchReceipt =
  | { readonly kind: 'received'; readonly answer: readonly BatchAnswer[] }
  /** The idempotency key was used before; the answer is that of the first time. */
  | {
      readonly kind: 'replayed'
      readonly answer: readonly BatchAnswer[]
      readonly matches: boolean
    }
  | { readonly kind: 'queue_full' }

/** One item: a good submission, or the answer to a bad one. */
export type BatchItem =
  { readonly submission: Submission } | { readonly submission: null; readonly refusal: object }

/**
 * Receives the good items, as `receiveSubmission` does one. A batch without any is answered and not remembered.
 * @param signal withdraws a statement that was not sent or not finished.
 */
export async function receiveBatch(
  sql: Database,
  items: readonly BatchItem[],
  circumstances: Circumstances,
  signal: AbortSignal,
): Promise<BatchReceipt> {
  const rows: object[] = []
  const answer = items.map((item): BatchAnswer => {
    if (item.submission === null) return item.refusal
    const id = uuidv7()
    const { code, stdin, expectedStdout, webhook } = item.submission
    const { data, webhookId } = describeReceived(item.submission, circumstances)
    rows.push({
      id,
      // Base64: a jsonb text holds neither NUL nor bytes.
      code: code.toString('base64'),
      stdin: stdin.toString('base64'),
      expected_stdout: expectedStdout?.toString('base64') ?? null,
      webhook_id: webhookId,
      webhook_url: webhook?.url ?? null,
      webhook_secret: webhook?.secret ?? null,
      data,
    })
    return { id }
  })
  if (rows.length === 0) return { kind: 'received', answer }

  const query = sql<{ given_answer: string; replayed: boolean; matches: boolean }[]>`
    select * from runledger.receive_batch(
      ${circumstances.apiKeyId}, ${json(sql, rows)}, ${JSON.stringify(answer)}, ${schemaVersion},
      ${json(sql, describeCause(circumstances))}, ${circumstances.capacity}, ${circumstances.idempotencyKey},
      ${digestRequest(items.map(({ submission }) => submission))}, false
    )`
  passMilestone('batch.before_commit')
  try {
    const [row] = await cancelOnAbort(query, signal)
    passMilestone('batch.after_commit')
    if (row?.replayed !== true) {
      wakeWorkers(sql, rows.length)
      return { kind: 'received', answer }
    }
    return {
      kind: 'replayed',
      answer: JSON.parse(row.given_answer) as BatchAnswer[],
      matches: row.matches,
    }
  } catch (error) {
    if (errorCode(error) === sqlState.queueFull) return { kind: 'queue_full' }
    throw error
  }
}
