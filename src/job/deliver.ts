// The task 'deliver': one attempt to send a finished submission's record to its webhook. The event log owns the
// schedule: the task records what happened, enqueues the next attempt, and resolves.
import * as v from 'valibot'
import { errorCode, json, sqlState } from '#database'
import type { Database } from '#database'
import { schemaVersion } from '#event'
import type { Metadata, WebhookAttempt, WebhookEvent } from '#event'
import type { Logger } from '#log'
import { readResult } from '#result'
import { nextAttemptDelay, sendDelivery } from '#webhook'
import type { DeliveryOutcome, DeliverySettings } from '#webhook'

/** What the task works with. */
export interface DeliverDependencies {
  readonly database: Database
  readonly settings: DeliverySettings
  /** Seconds before each further attempt. */
  readonly schedule: readonly number[]
  /** Attempts under way to one host at most, so that a slow receiver does not hold up the others. */
  readonly perHost: number
  readonly workerId: string
  readonly log: Logger
  readonly signal: AbortSignal
}

const payloadSchema = v.object({ webhook: v.pipe(v.string(), v.uuid()) })

/** A delivery that is due. */
interface DueDelivery {
  readonly webhookId: string
  readonly submission: string
  readonly url: string
  readonly secret: string
  readonly attempt: number
}

const hostBusyDelaySeconds = 1

/** Creates the task. */
export function createDeliverTask(
  dependencies: DeliverDependencies,
): (payload: unknown) => Promise<void> {
  const underWay = new Map<string, number>()

  return async (payload) => {
    const parsed = v.safeParse(payloadSchema, payload)
    if (!parsed.success) {
      dependencies.log.error({ issues: v.flatten(parsed.issues) }, 'job.poisoned')
      return
    }
    const delivery = await readDelivery(dependencies.database, parsed.output.webhook)
    if (delivery === null) return
    const { host } = new URL(delivery.url)
    const busy = underWay.get(host) ?? 0
    if (busy >= dependencies.perHost) {
      await postpone(dependencies.database, delivery.webhookId)
      return
    }
    underWay.set(host, busy + 1)
    try {
      await attemptDelivery(dependencies, delivery)
    } finally {
      const left = (underWay.get(host) ?? 1) - 1
      if (left === 0) underWay.delete(host)
      else underWay.set(host, left)
    }
  }
}

async function attemptDelivery(
  dependencies: DeliverDependencies,
  delivery: DueDelivery,
): Promise<void> {
  const { database, settings, schedule, signal, log } = dependencies
  const record = await readResult(database, delivery.submission, null)
  if (record === null) throw new Error(`webhook ${delivery.webhookId} has no result`)
  const body = Buffer.from(
    JSON.stringify({
      type: record.status === 'failed' ? 'submission.failed' : 'submission.completed',
      timestamp: record.finished_at,
      data: record,
    }),
  )
  const outcome = await sendDelivery(
    { id: delivery.webhookId, url: delivery.url, secret: delivery.secret, body },
    settings,
    signal,
  )
  const delay =
    outcome.kind === 'delivered' || outcome.kind === 'gone'
      ? null
      : nextAttemptDelay(delivery.attempt, {
          schedule,
          retryAfterSeconds: outcome.retryAfterSeconds,
        })
  const nextAttemptAt = delay === null ? null : new Date(Date.now() + delay * 1000)
  const event = describeAttempt(delivery, outcome, nextAttemptAt)
  const abandonedBecause =
    event.type === 'webhook.delivered' || nextAttemptAt !== null
      ? null
      : outcome.kind === 'gone'
        ? 'gone'
        : 'schedule_spent'
  const metadata: Metadata = { actor: { worker: dependencies.workerId } }
  try {
    await database`
      select runledger.record_attempt(
        ${delivery.webhookId}, ${delivery.attempt}, ${event.type}, ${schemaVersion}, ${json(database, event.data)},
        ${json(database, metadata)}, ${nextAttemptAt}, ${abandonedBecause}
      )`
    log.info(
      { submission: delivery.submission, attempt: delivery.attempt, outcome: outcome.kind },
      event.type,
    )
  } catch (error) {
    // Another worker made the same attempt; the receiver saw one id twice, which the id is there for.
    if (errorCode(error) !== sqlState.uniqueViolation) throw error
  }
}

function describeAttempt(
  delivery: DueDelivery,
  outcome: DeliveryOutcome,
  nextAttemptAt: Date | null,
): Extract<WebhookEvent, { type: 'webhook.delivered' | 'webhook.attempt_failed' }> {
  const data: WebhookAttempt = {
    submission: delivery.submission,
    attempt: delivery.attempt,
    outcome: outcome.kind,
    status: outcome.status,
    duration_seconds: outcome.durationSeconds,
    snippet: outcome.snippet ?? outcome.error ?? '',
  }
  if (outcome.kind === 'delivered') return { type: 'webhook.delivered', data }
  return {
    type: 'webhook.attempt_failed',
    data: { ...data, next_attempt_at: nextAttemptAt?.toISOString() ?? null },
  }
}

async function readDelivery(sql: Database, webhookId: string): Promise<DueDelivery | null> {
  const [row] = await sql`
    select submission_id, url, secret, attempts
    from runledger.delivery
    where webhook_id = ${webhookId} and state = 'pending' and secret is not null`
  if (row === undefined) return null
  return {
    webhookId,
    submission: row['submission_id'] as string,
    url: row['url'] as string,
    secret: row['secret'] as string,
    attempt: (row['attempts'] as number) + 1,
  }
}

async function postpone(sql: Database, webhookId: string): Promise<void> {
  const at = new Date(Date.now() + hostBusyDelaySeconds * 1000)
  await sql`select runledger.postpone_delivery(${webhookId}, ${at})`
}
