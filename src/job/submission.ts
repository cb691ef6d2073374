// Describes submissions and batches for the log and for runledger.receive, and decides when two requests are the same.
import { hash } from 'node:crypto'
import { digestBody, schemaVersion } from '#event'
import type { BodyDigest, EventData, Metadata, WebhookFormat } from '#event'
import { createId } from '#id'
import type { Language } from '#language'
import { encodeOptions, listRequired } from '#options'
import type { Options } from '#options'

export interface Submission {
  readonly language: Language
  /** UTF-8, like the other bodies. */
  readonly code: Buffer
  readonly stdin: Buffer
  readonly expectedStdout: Buffer | null
  readonly options: Options
  /** The caller's label for the submission. */
  readonly tag: string | null
  /** A `low` submission waits until no `normal` one does. */
  readonly priority: 'normal' | 'low'
  /** The encoding of the outputs in the record. */
  readonly outputEncoding: 'utf8' | 'base64'
  /** The account's blobs that the options name, each once. */
  readonly blobs: readonly BodyDigest[]
  readonly webhook: {
    readonly url: string
    readonly secret: string
    readonly format?: WebhookFormat
  } | null
}

/** Who submits, who is notified, and how much may wait. */
export interface SubmissionContext {
  readonly apiKeyId: string
  readonly accountId: string
  readonly requestId: string
  /** The channel on which a process waits to be notified of the end; null when no process waits. */
  readonly waiter: string | null
  /** True when a received submission must be on disk. When false, no caller may learn of it before its end or `flushLog`. */
  readonly durable: boolean
  readonly idempotencyKey: string | null
  /** The most unfinished submissions over all keys. */
  readonly capacity: number
}

/** The most blobs in the event, which then has 8 KB at most. */
const blobsInEvent = 32

/** An item of a request. An invalid item is refused in its position, and does not stop the others. */
export type BatchItem = { readonly id: string } & (
  { readonly submission: Submission } | { readonly submission: null; readonly refusal: object }
)

/** The answer to a request, and to the same request again under its idempotency key. */
export interface Answer {
  /** The id of a batch with a webhook; null when no item is valid. */
  readonly id?: string | null
  /** A valid item's id, or an invalid item's refusal. */
  readonly submissions: readonly ({ readonly id: string } | object)[]
}

/** Notified when all submissions of a batch have ended. */
export interface BatchWebhook {
  readonly url: string
  readonly secret: string
}

/** A request as runledger.receive takes it. */
export interface Intake {
  readonly request: object
  /** The valid submissions. */
  readonly submissions: readonly object[]
  /** The bytes of all bodies. */
  readonly bytes: number
  readonly answer: Answer
}

/** Describes a request for runledger.receive. @param items several for a batch, one for any other request. */
export function describeIntake(
  items: readonly BatchItem[],
  context: SubmissionContext,
  webhook: BatchWebhook | null = null,
): Intake {
  const { apiKeyId, capacity, waiter } = context
  const good = items.filter((item) => item.submission !== null)
  const batch = webhook && { id: createId(), ...webhook }
  const answer = {
    ...(batch && { id: good.length === 0 ? null : batch.id }),
    submissions: items.map((item) => (item.submission === null ? item.refusal : { id: item.id })),
  }
  const request = {
    submission_id: good[0]?.id,
    submissions: good.length,
    api_key_id: apiKeyId,
    capacity,
    waiter,
    ...describeIdempotency(context.idempotencyKey, items, webhook, answer),
    ...(batch && { batch: describeBatch(batch, good, context) }),
  }
  return {
    request,
    submissions: good.map(({ id, submission }) =>
      describeSubmission(id, submission, context, batch?.id),
    ),
    bytes: good.reduce((sum, { submission }) => sum + countBytes(submission), 0),
    answer,
  }
}

/** Describes a batch for runledger.receive. The batch's id is also its stream's id. */
function describeBatch(
  { id, url, secret }: BatchWebhook & { readonly id: string },
  members: readonly BatchItem[],
  context: SubmissionContext,
): object {
  const data: EventData['batch.received'] = {
    account: context.accountId,
    api_key: context.apiKeyId,
    webhook: { id: createId(), host: new URL(url).host },
    submissions: members.map((member) => member.id),
  }
  return {
    id,
    webhook_id: data.webhook.id,
    webhook_url: url,
    webhook_secret: secret,
    schema_version: schemaVersion,
    data,
    metadata: describeCause(context),
  }
}

function describeCause({ requestId, apiKeyId }: SubmissionContext): Metadata {
  return { request: requestId, actor: { api_key: apiKeyId } }
}

/** Describes a submission for runledger.receive, with the data of submission.received. */
function describeSubmission(
  id: string,
  submission: Submission,
  context: SubmissionContext,
  batch?: string,
): object {
  const { code, stdin, expectedStdout, options, tag, webhook } = submission
  const { limits, compile_limits: compile } = options
  const detail = encodeOptions(options)
  const blobs = listBlobs(submission)
  const requires = listRequired(options)
  const delivery = webhook && { ...webhook, id: createId() }
  const data: EventData['submission.received'] = {
    account: context.accountId,
    api_key: context.apiKeyId,
    language: submission.language,
    code: digestBody(code),
    stdin: digestBody(stdin),
    expected_stdout: expectedStdout && digestBody(expectedStdout),
    webhook: delivery && {
      id: delivery.id,
      host: new URL(delivery.url).host,
      ...(delivery.format !== undefined && { format: delivery.format }),
    },
    ...(detail !== null && { detail: digestBody(detail) }),
    ...(requires.length > 0 && { demands: requires }),
    ...(blobs !== null && {
      blobs: submission.blobs.slice(0, blobsInEvent),
      blob_list: digestBody(blobs),
    }),
    // JSON leaves out a phase that is undefined.
    ...((limits ?? compile) && { limits: { compile, run: limits } }),
    ...(options.checker?.type === 'program' && { checker_language: options.checker.language }),
    ...(options.interactor && { checker_language: options.interactor.language }),
    ...(tag !== null && { tag }),
    ...(submission.priority === 'low' && { priority: submission.priority }),
    ...(submission.outputEncoding === 'base64' && { output_encoding: 'base64' }),
    ...(batch !== undefined && { batch }),
  }
  return {
    submission_id: id,
    webhook_id: delivery?.id,
    webhook_url: delivery?.url,
    webhook_secret: delivery?.secret,
    schema_version: schemaVersion,
    data,
    metadata: describeCause(context),
    // In base64, because a jsonb text holds neither NUL nor arbitrary bytes.
    code: code.toString('base64'),
    stdin: stdin.toString('base64'),
    expected_stdout: expectedStdout?.toString('base64'),
    detail: detail?.toString('base64'),
    blobs: blobs?.toString('base64'),
  }
}

/** Returns a submission's blobs as runledger.body.blobs has them; null when it names none. */
function listBlobs({ blobs }: Submission): Buffer | null {
  return blobs.length === 0 ? null : Buffer.from(blobs.map(({ sha256 }) => sha256).join(''), 'hex')
}

function listBodies({ code, stdin, expectedStdout, options }: Submission): (Buffer | null)[] {
  return [code, stdin, expectedStdout, encodeOptions(options)]
}

function countBytes(submission: Submission): number {
  return listBodies(submission).reduce((sum, body) => sum + (body?.byteLength ?? 0), 0)
}

function describeIdempotency(
  idempotencyKey: string | null,
  items: readonly BatchItem[],
  webhook: BatchWebhook | null,
  answer: Answer,
): object {
  if (idempotencyKey === null) return {}
  return {
    idempotency_key: idempotencyKey,
    request_digest: spellDigest(digestRequest(items, webhook)),
    // A single item's answer is its id, which is stored anyway.
    ...((items.length > 1 || webhook !== null) && { batch_answer: JSON.stringify(answer) }),
  }
}

/** Spells a digest as PostgreSQL writes bytea. */
export function spellDigest(digest: Buffer): string {
  return `\\x${digest.toString('hex')}`
}

/** Digests what makes two requests the same. */
function digestRequest(items: readonly BatchItem[], webhook: BatchWebhook | null): Buffer {
  const parts = items.map(({ submission }) => {
    if (submission === null) return null
    const { language, tag, outputEncoding, priority } = submission
    const { url, secret, format } = submission.webhook ?? {}
    const digests = listBodies(submission).map((body) => body && digestBody(body))
    return [language, digests, url, secret, format, tag, outputEncoding, priority]
  })
  return hash('sha256', JSON.stringify([parts, webhook?.url, webhook?.secret]), 'buffer')
}
