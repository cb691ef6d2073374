// The task 'deliver': one attempt to send a finished submission's record, or a batch's results, to a webhook. It records the
// attempt in the event log, which owns the schedule, and enqueues the next attempt.
//
// Delivery is at least once: a crash before an attempt is recorded repeats it, under the same id. The stream's version fences
// the record, so each crash costs one repetition at most.
import { errorCode, json, sqlState, untilAvailable } from '#database'
import type { Database } from '#database'
import { schemaVersion } from '#event'
import type { AbandonReason, Metadata, WebhookSubject, WebhookAttempt, WebhookFormat } from '#event'
import type { Logger } from '#log'
import { describeCallback, readBatch, readResult } from '#result'
import { createConcurrencyLimit, nextAttemptDelay, sendDelivery } from '#webhook'
import type { Bound, DeliveryOutcome, DeliverySettings } from '#webhook'
import { reachFailpoint } from './failpoint.ts'
import type { WorkerIdentity } from './lease.ts'

interface DeliverDependencies {
  readonly database: Database
  readonly settings: DeliverySettings
  /** Seconds before each further attempt. */
  readonly schedule: readonly number[]
  /** The most deliveries to one host at a time, so that a slow receiver does not hold up others. */
  readonly perHost: number
  /** The same for one account, which may use many hosts. */
  readonly perAccount: number
  readonly lease: Pick<WorkerIdentity, 'workerId'>
  readonly log: Logger
  /** Fires when the worker must requeue its attempts. */
  readonly signal: AbortSignal
}

interface DueDelivery {
  readonly webhookId: string
  /** The id of the submission or of the batch. */
  readonly subject: string
  readonly isBatch: boolean
  readonly account: string
  readonly url: string
  readonly secret: string
  /** The attempt's number: 1, 2, … */
  readonly attempt: number
  /** The attempt's number since an operator's last replay, by which the schedule goes. */
  readonly roundAttempt: number
  /** The version of the webhook's stream, which is the fencing token. */
  readonly version: number
  readonly outputBytes: number
  /** Null for the format of Standard Webhooks. */
  readonly format: WebhookFormat | null
}

/** `internal`: the attempt could not be made, through our fault. */
type AttemptOutcome = Omit<DeliveryOutcome, 'kind'> & {
  readonly kind: DeliveryOutcome['kind'] | 'internal'
}

// Output bytes of the records that are sent at a time, and those of one account. As JSON they are up to six times as long (NUL
// becomes \u0000). A larger record counts as an account's share.
const outputBytesUnderWay = 32 * 1024 * 1024
const outputBytesOfAccount = outputBytesUnderWay / 2

/** Creates the task. It rejects only when the database fails. */
export function createDeliverTask(
  dependencies: DeliverDependencies,
): (webhook: string) => Promise<void> {
  const { database, signal } = dependencies
  const enter = createConcurrencyLimit()
  const underWay = new Map<string, Promise<void>>()

  async function deliver(webhook: string): Promise<void> {
    const delivery = await readDelivery(database, webhook)
    if (delivery === null) return
    const entry = await enter(listBounds(dependencies, delivery))
    if (entry.kind === 'full') {
      await postpone(dependencies, delivery, entry.comeBackSeconds)
      return
    }
    try {
      const outcome = await attemptDelivery(dependencies, delivery)
      await recordAttempt(dependencies, delivery, outcome)
    } catch (error) {
      if (!signal.aborted) throw error
      await postpone(dependencies, delivery, 0)
    } finally {
      entry.leave()
    }
  }

  return async (webhook) => {
    // A second job waits for the first one's attempt and then reads what is left to do. It must not be dropped, because it
    // may be the job that this attempt has just enqueued, which would be missed until the reconciler looks.
    while (underWay.has(webhook)) await underWay.get(webhook)
    const { promise, resolve } = Promise.withResolvers<void>()
    underWay.set(webhook, promise)
    try {
      await deliver(webhook)
    } finally {
      underWay.delete(webhook)
      resolve()
    }
  }
}

function listBounds(
  { perHost, perAccount }: DeliverDependencies,
  { url, account, outputBytes }: DueDelivery,
): Bound[] {
  const weight = Math.min(outputBytes, outputBytesOfAccount)
  return [
    { key: `host:${URL.parse(url)?.host}`, limit: perHost, weight: 1 },
    { key: `account:${account}`, limit: perAccount, weight: 1 },
    { key: `outputs:${account}`, limit: outputBytesOfAccount, weight },
    { key: 'outputs', limit: outputBytesUnderWay, weight },
  ]
}

/** Sends the record once. @throws the signal's reason, and the database's errors. */
async function attemptDelivery(
  { database, settings, signal, log }: DeliverDependencies,
  delivery: DueDelivery,
): Promise<AttemptOutcome> {
  const { webhookId: id, url, secret, format } = delivery
  const body = Buffer.from(JSON.stringify(await readNotice(database, delivery)))
  reachFailpoint('deliver.before_send')
  try {
    const sent =
      format === 'judge0'
        ? ({ id, url, body, secret: null, method: 'PUT' } as const)
        : { id, url, body, secret }
    return await sendDelivery(sent, settings, signal)
  } catch (error) {
    if (signal.aborted) throw error
    // Counts as an attempt, otherwise the delivery might fail forever.
    log.error({ ...describeSubject(delivery), webhook: id, err: error }, 'webhook.not_sent')
    return {
      kind: 'internal',
      status: null,
      durationSeconds: 0,
      snippet: null,
      retryAfterSeconds: null,
      error: 'internal: the attempt was not made',
    }
  }
}

function describeSubject({ subject, isBatch }: DueDelivery): WebhookSubject {
  return isBatch ? { batch: subject } : { submission: subject }
}

async function readNotice(
  database: Database,
  { webhookId, subject, isBatch, format }: DueDelivery,
): Promise<object> {
  if (isBatch) {
    const { endedAt, submissions } = await readBatch(database, subject)
    return { type: 'batch.completed', timestamp: endedAt, data: { id: subject, submissions } }
  }
  const record = await readResult(database, subject)
  if (record === null) throw new Error(`webhook ${webhookId} has no result`)
  if (format === 'judge0') return describeCallback(record)
  return { type: `submission.${record.status}`, timestamp: record.finished_at, data: record }
}

async function recordAttempt(
  { database, schedule, lease, log }: DeliverDependencies,
  delivery: DueDelivery,
  outcome: AttemptOutcome,
): Promise<void> {
  const shown = {
    ...describeSubject(delivery),
    attempt: delivery.attempt,
    outcome: outcome.kind,
    status: outcome.status,
  }
  const fields = { ...shown, webhook: delivery.webhookId }
  const data: WebhookAttempt = {
    ...shown,
    duration_seconds: outcome.durationSeconds,
    snippet: outcome.snippet ?? outcome.error ?? '',
  }
  const metadata: Metadata = { actor: { worker: lease.workerId } }
  const type = outcome.kind === 'delivered' ? 'webhook.delivered' : 'webhook.attempt_failed'
  const { retrySeconds, abandonedBecause } = decideNext(delivery, outcome, schedule)
  reachFailpoint('deliver.before_record')
  try {
    await untilAvailable(
      () => database`
        select runledger.record_attempt(
          ${delivery.webhookId}, ${delivery.version}, ${type}, ${schemaVersion}, ${json(database, data)},
          ${json(database, metadata)}, ${retrySeconds}, ${abandonedBecause}
        )`,
      log,
    )
    reachFailpoint('deliver.after_record')
    log.info({ ...fields, retry_seconds: retrySeconds }, type)
    if (abandonedBecause !== null)
      log.warn({ ...fields, reason: abandonedBecause }, 'webhook.abandoned')
  } catch (error) {
    // The attempt was recorded before: by us, if the answer was lost, or by a worker that considered us dead.
    if (errorCode(error) !== sqlState.uniqueViolation) throw error
    log.warn(fields, 'webhook.fenced')
  }
}

/** What follows an attempt: a retry, abandonment, or nothing when both fields are null. */
interface Next {
  readonly retrySeconds: number | null
  readonly abandonedBecause: AbandonReason | null
}

function decideNext(
  { roundAttempt }: DueDelivery,
  { kind, retryAfterSeconds }: AttemptOutcome,
  schedule: readonly number[],
): Next {
  if (kind === 'delivered') return { retrySeconds: null, abandonedBecause: null }
  if (kind === 'gone') return { retrySeconds: null, abandonedBecause: 'gone' }
  // A forbidden address is tried again, because a name may point elsewhere then, and this worker's settings may be old.
  const retrySeconds = nextAttemptDelay(roundAttempt, { schedule, retryAfterSeconds })
  return { retrySeconds, abandonedBecause: retrySeconds === null ? 'schedule_spent' : null }
}

async function readDelivery(sql: Database, webhookId: string): Promise<DueDelivery | null> {
  const [delivery] = await sql<DueDelivery[]>`
    select
      ${webhookId} as "webhookId", submission_id as subject, is_batch as "isBatch", account_id as account, url, secret, attempt,
      round_attempt as "roundAttempt", version, output_bytes as "outputBytes", format
    from runledger.read_delivery(${webhookId})`
  return delivery ?? null
}

async function postpone(
  { database, log }: DeliverDependencies,
  { webhookId, version }: DueDelivery,
  seconds: number,
): Promise<void> {
  reachFailpoint('deliver.before_postpone')
  await untilAvailable(
    () => database`select runledger.postpone_delivery(${webhookId}, ${version}, ${seconds})`,
    log,
  )
  reachFailpoint('deliver.after_postpone')
}
