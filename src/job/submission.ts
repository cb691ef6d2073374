// What the log says of a submission, alone or in a batch, and when two requests are the same.
import { createHash } from 'node:crypto'
import { digestBody, schemaVersion } from '#event'
import type { BatchEvent, BodyDigest, Metadata, SubmissionReceived, WebhookFormat } from '#event'
import { createId } from '#id'
import type { Language } from '#language'
import { encodeOptions, listRequired } from '#options'
import type { Options } from '#options'

export interface Submission {
  readonly language: Language
  /** UTF-8, as are the other bodies. */
  readonly code: Buffer
  readonly stdin: Buffer
  readonly expectedStdout: Buffer | null
  readonly options: Options
  /** The caller's own word for it. */
  readonly tag: string | null
  /** Low: it waits until none does that is not. */
  readonly priority: 'normal' | 'low'
  /** How its outputs are written. */
  readonly outputEncoding: 'utf8' | 'base64'
  /** Of the account, each once: those that the options name. */
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
  /** The channel on which a process waits to be notified of the end; null: none does. */
  readonly waiter: string | null
  /** Received is on disk. False: nobody is notified of the submission before its end, or `flushLog`. */
  readonly durable: boolean
  readonly idempotencyKey: string | null
  /** Unfinished submissions over all keys. */
  readonly capacity: number
}

/** With what else the event says it is 8 KB at the most. */
const blobsInEvent = 32

/** What a batch has beside its submissions. */
export interface Batch {
  /** What the same batch under the same idempotency key is answered with. */
  readonly answer: string
  /** Sent when all of it has ended; `id` is the batch's, and its stream's. */
  readonly webhook: { readonly id: string; readonly url: string; readonly secret: string } | null
}

/** A request as runledger.receive takes it. */
export interface Intake {
  readonly request: object
  readonly submissions: readonly object[]
  /** Of all bodies. */
  readonly bytes: number
  readonly durable: boolean
}

/** @param items a batch has several, of which one without a submission was refused. */
export function describeIntake(
  items: readonly { readonly id: string; readonly submission: Submission | null }[],
  context: SubmissionContext,
  batch: Batch | null = null,
): Intake {
  const { apiKeyId, capacity, waiter, durable } = context
  const good = items.flatMap(({ id, submission }) =>
    submission === null ? [] : [{ id, submission }],
  )
  const webhook = batch?.webhook ?? null
  const request = {
    submission_id: good[0]?.id,
    submissions: good.length,
    api_key_id: apiKeyId,
    capacity,
    waiter,
    batch_answer: batch?.answer,
    ...describeIdempotency(
      context.idempotencyKey,
      items.map(({ submission }) => submission),
      webhook,
    ),
    ...(webhook !== null && { batch: describeBatch(webhook, good, context) }),
  }
  return {
    request,
    submissions: good.map(({ id, submission }) =>
      describeSubmission(id, submission, context, webhook?.id),
    ),
    bytes: good.reduce((sum, { submission }) => sum + countBytes(submission), 0),
    durable,
  }
}

function describeBatch(
  { id, url, secret }: NonNullable<Batch['webhook']>,
  members: readonly { readonly id: string }[],
  context: SubmissionContext,
): object {
  const data: BatchEvent['data'] = {
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

/** As runledger.receive takes it, with what submission.received says. */
function describeSubmission(
  id: string,
  submission: Submission,
  context: SubmissionContext,
  batch?: string,
): object {
  const { code, stdin, expectedStdout, options, tag, webhook } = submission
  const detail = encodeOptions(options)
  const blobs = listBlobs(submission)
  const requires = listRequired(options)
  const delivery = webhook && { ...webhook, id: createId() }
  const data: SubmissionReceived['data'] = {
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
    ...describeOwnLimits(options),
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
    // A jsonb text holds neither NUL nor bytes.
    code: code.toString('base64'),
    stdin: stdin.toString('base64'),
    expected_stdout: expectedStdout?.toString('base64'),
    detail: detail?.toString('base64'),
    blobs: blobs?.toString('base64'),
  }
}

/** As runledger.body.blobs has it; null when it names none. */
function listBlobs({ blobs }: Submission): Buffer | null {
  return blobs.length === 0 ? null : Buffer.from(blobs.map(({ sha256 }) => sha256).join(''), 'hex')
}

function countBytes({ code, stdin, expectedStdout, options }: Submission): number {
  return [code, stdin, expectedStdout, encodeOptions(options)].reduce(
    (sum, body) => sum + (body?.byteLength ?? 0),
    0,
  )
}

function describeIdempotency(
  idempotencyKey: string | null,
  submissions: readonly (Submission | null)[],
  batchWebhook: Batch['webhook'],
): object {
  if (idempotencyKey === null) return {}
  const digest = digestRequest(submissions, batchWebhook)
  return { idempotency_key: idempotencyKey, request_digest: spellDigest(digest) }
}

/** As PostgreSQL writes bytea. */
export function spellDigest(digest: Buffer): string {
  return `\\x${digest.toString('hex')}`
}

/**
 * Every parsed field counts; lengths keep fields apart.
 * @param submissions null for a refused one.
 */
function digestRequest(
  submissions: readonly (Submission | null)[],
  batchWebhook: Batch['webhook'],
): Buffer {
  const hash = createHash('sha256')
  const add = (part: Buffer | string | null | undefined): void => {
    const bytes = part === null || part === undefined ? null : Buffer.from(part)
    hash.update(`${bytes?.byteLength ?? 'none'}:`).update(bytes ?? '')
  }
  for (const submission of submissions) {
    if (submission === null) {
      hash.update('refused:')
      continue
    }
    const { language, code, stdin, expectedStdout, webhook } = submission
    const parts = [language, code, stdin, expectedStdout, webhook?.url, webhook?.secret]
    for (const part of [...parts, ...listFurtherParts(submission)]) add(part)
  }
  if (batchWebhook !== null) for (const part of [batchWebhook.url, batchWebhook.secret]) add(part)
  return hash.digest()
}

/** None for a request without any of them: it is the same as one that was remembered before there were such. */
function listFurtherParts({
  options,
  tag,
  outputEncoding,
  priority,
}: Submission): (Buffer | string | null)[] {
  const bytes = encodeOptions(options)
  const further = priority === 'low' ? [priority] : []
  if (bytes === null && tag === null && outputEncoding === 'utf8') return further
  return [bytes, tag, outputEncoding, ...further]
}

function describeOwnLimits({ limits, compile_limits: compile }: Options): {
  readonly limits?: object
} {
  if (limits === undefined && compile === undefined) return {}
  return {
    limits: {
      ...(compile !== undefined && { compile }),
      ...(limits !== undefined && { run: limits }),
    },
  }
}
