// Deliveries for tests: makes ended submissions and settings for test receivers, and reads what became of a delivery.
import { setTimeout as sleep } from 'node:timers/promises'
import { v7 as uuidv7 } from 'uuid'
import type { Caller } from '#account'
import type { Database } from '#database'
import { readStream } from '#event'
import type { RecordedEvent } from '#event'
import { createDeliverySettings, parseRanges, trustAuthorities } from '#webhook'
import type { DeliverySettings } from '#webhook'
import { describeSubmission, submitNew, untilInTime } from '../helper/submission.ts'
import { finish } from '../helper/execution.ts'
import { createReceive } from '#enqueue'
import type { Submission } from '#enqueue'

/** The loopback address of the tests' receivers. Deliveries treat it as a public address. */
export const receiverAddress = '127.0.0.2'

/** A row of runledger.delivery. */
export interface DeliveryRow {
  readonly webhook_id: string
  readonly submission_id: string
  readonly state: 'waiting' | 'pending' | 'delivered' | 'abandoned'
  readonly secret: string | null
  readonly attempts: number
  readonly due_at: Date | null
}

/** Returns settings that resolve every name to the receivers' address, and allow only these ports and this authority. */
export function describeSettings(
  authority: string,
  ports: readonly number[],
  change: Partial<DeliverySettings> = {},
): DeliverySettings {
  return createDeliverySettings({
    version: 'test',
    trust: trustAuthorities(authority),
    allowedRanges: parseRanges(receiverAddress).ranges,
    allowedPorts: ports,
    resolve: async () => [receiverAddress],
    ...change,
  })
}

/**
 * Stores a submission that has just ended with this output, without running it. The functions that the service itself uses
 * receive, start and complete it, in one transaction.
 * @returns its id.
 */
export async function endSubmission(
  sql: Database,
  caller: Caller,
  webhook: { readonly url: string; readonly secret: string },
  stdout = 'done\n',
): Promise<string> {
  return untilInTime(() =>
    sql.begin<string>(async (transaction) => {
      // A transaction has every method of a pool that submitting uses.
      const inside = transaction as unknown as Database
      const id = await submitNew(inside, caller, describeSubmission({ code: '', webhook }))
      await finish(inside, id, { stdout })
      await transaction`select graphile_worker.remove_job(${id})`
      return id
    }),
  )
}

/**
 * Submits a batch with one webhook.
 * @param createMember makes a member's id.
 * @returns the ids of the batch and of its members.
 */
export async function submitBatch(
  sql: Database,
  caller: Caller,
  submissions: readonly Submission[],
  webhook: { readonly url: string; readonly secret: string },
  createMember: () => string = () => uuidv7(),
): Promise<{ readonly id: string; readonly members: readonly string[] }> {
  const items = submissions.map((submission) => ({ id: createMember(), submission }))
  const context = {
    ...caller,
    requestId: uuidv7(),
    waiter: null,
    durable: true,
    idempotencyKey: null,
    capacity: 10_000,
  }
  const { signal } = new AbortController()
  const received = await untilInTime(() => createReceive(sql)(items, context, signal, webhook))
  if (received.kind !== 'received' || typeof received.answer.id !== 'string')
    throw new Error(`the batch was not received: ${received.kind}`)
  return { id: received.answer.id, members: items.map(({ id }) => id) }
}

/** Reads the delivery of a submission or a batch. @throws if there is none. */
export async function readDelivery(sql: Database, submission: string): Promise<DeliveryRow> {
  const [row] = await sql<DeliveryRow[]>`
    select * from runledger.delivery where submission_id = ${submission}`
  if (row === undefined) throw new Error(`submission ${submission} has no delivery`)
  return row
}

/** Resolves with the delivery once it is over, or once `until` holds. */
export async function awaitDelivery(
  sql: Database,
  submission: string,
  until: (row: DeliveryRow) => boolean = ({ state }) =>
    state === 'delivered' || state === 'abandoned',
  seconds = 240,
): Promise<DeliveryRow> {
  for (let left = seconds * 20; left > 0; left -= 1) {
    const row = await readDelivery(sql, submission)
    if (until(row)) return row
    await sleep(50)
  }
  throw new Error(`the delivery of ${submission} is not there after ${seconds} s`)
}

/** Reads the events of the submission's delivery. */
export async function readAttempts(sql: Database, submission: string): Promise<RecordedEvent[]> {
  return readStream(sql, (await readDelivery(sql, submission)).webhook_id)
}
