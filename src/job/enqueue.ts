// The door to the queue for everyone but the worker: puts a submission into the log and the queue at once.
// Apart from job.ts so that the web process never loads the executor.
import { createHash } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { errorCode, json, sqlState } from '#database'
import type { Database } from '#database'
import { digestBody, schemaVersion } from '#event'
import type { Metadata, SubmissionReceived } from '#event'

/** A valid submission request. */
export interface Submission {
  readonly language: 'python' | 'cpp' | 'java'
  /** UTF-8, as are the other bodies. */
  readonly code: Buffer
  readonly stdin: Buffer
  readonly expectedStdout: Buffer | null
  readonly webhook: { readonly url: string; readonly secret: string } | null
}

/** Who submits, and how. */
export interface Circumstances {
  readonly apiKeyId: string
  readonly accountId: string
  /** The HTTP request's id. */
  readonly requestId: string
  /** Somebody waits: notify the end. */
  readonly awaited: boolean
  readonly idempotencyKey: string | null
  /** Unfinished submissions over all keys; one more is refused. */
  readonly capacity: number
}

/** What became of a submission request. */
export type Receipt =
  | { readonly kind: 'received'; readonly id: string }
  /** The idempotency key was used before; `matches`: for the same request. */
  | { readonly kind: 'replayed'; readonly id: string; readonly matches: boolean }
  | { readonly kind: 'queue_full' }

/** A new submission's id: UUID v7, so that ids sort by time. */
export function createSubmissionId(): string {
  return uuidv7()
}

/**
 * Appends `submission.received`, stores the bodies and enqueues the job in one transaction and one round trip.
 * When it resolves with `received`, the submission is on disk.
 * @param signal withdraws a statement that was not sent or not finished.
 */
export async function receiveSubmission(
  sql: Database,
  id: string,
  submission: Submission,
  circumstances: Circumstances,
  signal: AbortSignal,
): Promise<Receipt> {
  const { code, stdin, expectedStdout, webhook } = submission
  const webhookId = webhook === null ? null : uuidv7()
  const data: SubmissionReceived['data'] = {
    account: circumstances.accountId,
    api_key: circumstances.apiKeyId,
    language: submission.language,
    code: digestBody(code),
    stdin: digestBody(stdin),
    expected_stdout: expectedStdout === null ? null : digestBody(expectedStdout),
    webhook:
      webhook === null || webhookId === null
        ? null
        : { id: webhookId, host: new URL(webhook.url).host },
  }
  const metadata: Metadata = {
    request: circumstances.requestId,
    actor: { api_key: circumstances.apiKeyId },
  }
  const query = sql`
    select * from runledger.receive_submission(
      ${id}, ${circumstances.apiKeyId}, ${code}, ${stdin}, ${expectedStdout},
      ${webhookId}, ${webhook?.url ?? null}, ${webhook?.secret ?? null},
      ${schemaVersion}, ${json(sql, data)}, ${json(sql, metadata)},
      ${circumstances.awaited}, ${circumstances.capacity},
      ${circumstances.idempotencyKey}, ${digestRequest(submission)}
    )`
  signal.addEventListener('abort', () => query.cancel(), { once: true })
  try {
    const [row] = await query
    if (row?.['replayed'] === true) {
      return { kind: 'replayed', id: row['id'] as string, matches: row['matches'] as boolean }
    }
    return { kind: 'received', id }
  } catch (error) {
    if (errorCode(error) === sqlState.queueFull) return { kind: 'queue_full' }
    throw error
  }
}

// What makes two requests under one idempotency key the same: every field after parsing. Lengths keep fields apart.
function digestRequest({ language, code, stdin, expectedStdout, webhook }: Submission): Buffer {
  const hash = createHash('sha256')
  const bodies = [language, code, stdin, expectedStdout, webhook?.url, webhook?.secret]
  for (const body of bodies) {
    const bytes = body === null || body === undefined ? null : Buffer.from(body)
    hash.update(`${bytes?.byteLength ?? 'none'}:`).update(bytes ?? '')
  }
  return hash.digest()
}
