// Answers a batch as NDJSON: one line for each item, refused items first and the others in the order in which they end. A line
// is the item's record with its `index`. A client whose connection broke sends the batch again under its Idempotency-Key, and
// names the lines that it has.
import { once } from 'node:events'
import type { Response } from 'polka'
import type { Database } from '#database'
import { isFinal, readResults } from '#result'
import type { TrackedResult, Waiter } from '#result'
import { noteUnsent } from './answer.ts'
import type { HttpContext } from './http.ts'
import { noSubmission, withDeadline } from './problem.ts'
import { awaitStored, readRecord } from './read.ts'
import { receiveItems } from './receive.ts'
import type { ReceivedBatch } from './receive.ts'
import { hangUpSignal } from './request.ts'
import type { ApiRequest } from './request.ts'
import { streamHeaders } from './stream.ts'
import { describeReplay } from './submit.ts'

export interface ParsedBatch extends ReceivedBatch {
  readonly isStreamed: boolean
  /** Positions of the items whose lines the client already has. */
  readonly have: ReadonlySet<number>
}

const headers = { ...streamHeaders, 'Content-Type': 'application/x-ndjson' }

/** How many lines are made together. */
const atOnce = 20
/** How many records are held until their lines are written; further records are read when their lines are made. */
const heldRecords = 100

interface Ended {
  readonly id: string
  readonly index: number
  /** Undefined when the record must be read from the database. */
  readonly record: TrackedResult | undefined
}

/** Stores a batch. @returns the function that answers, which does not keep the batch. */
export async function storeStreamed(
  context: HttpContext,
  request: ApiRequest,
  response: Response,
  batch: ParsedBatch,
): Promise<() => Promise<void>> {
  const { database, waiter, resultStreams } = context
  const { longestMilliseconds, slowReaderMilliseconds } = resultStreams.bounds
  const hungUp = hangUpSignal(response)
  const { accountId, apiKeyId } = request.caller
  const { have } = batch
  const listNew = batch.items.flatMap(({ id, submission }, index) =>
    submission === null ? [] : [[id, index] as const],
  )
  const followItems = (followed: ReadonlyMap<string, number>): (() => Promise<readonly Ended[]>) =>
    follow(waiter, followed, longestMilliseconds / 1000, hungUp)
  const forgetNew = (): void => {
    for (const [id] of listNew) waiter.forget(id)
  }
  // The wait starts before the items are stored, because an end may be notified before this process knows that they are
  // stored.
  let next = followItems(new Map(listNew))
  const waiting = { waiter: waiter.channel, durable: true }
  const received = await receiveItems(context, request, batch, waiting).catch((error: unknown) => {
    forgetNew()
    throw error
  })
  const { id: batchId, submissions: items } = received.answer
  const pending = new Map<string, number>()
  for (const [index, item] of items.entries())
    if ('id' in item && !have.has(index)) pending.set(item.id, index)
  if (received.kind === 'replayed') {
    forgetNew()
    next = followItems(pending)
    await awaitStored(context, [...pending.keys()])
  }

  // `batch` is not used from here on: it would be kept for minutes.
  return async () => {
    request.isStream = true
    const named = typeof batchId === 'string' ? { 'Batch-Id': batchId } : {}
    response.writeHead(200, { ...headers, ...named, ...describeReplay(received) }).flushHeaders()
    response.on('timeout', () => response.destroy())
    const write = async (line: object): Promise<void> => {
      const bytes = Buffer.from(`${JSON.stringify(line)}\n`)
      const taken = noteUnsent(response, apiKeyId, bytes)
      if (!response.write(bytes)) {
        response.setTimeout(slowReaderMilliseconds)
        await once(response, 'drain', { signal: hungUp })
        response.setTimeout(0)
      }
      taken()
    }
    try {
      for (const [index, item] of items.entries())
        if (!('id' in item) && !have.has(index)) await write({ index, ...item })
      const until = performance.now() + longestMilliseconds
      while (pending.size > 0 && performance.now() < until) {
        const ended = (await next()).filter(({ id }) => pending.delete(id))
        if (hungUp.aborted) return
        for (const line of await describe(database, ended, accountId)) await write(line)
      }
      // The last bytes have the same time limit as any answer.
      response.setTimeout(slowReaderMilliseconds)
      response.end()
    } catch (error) {
      if (!hungUp.aborted) throw error
    }
  }
}

/** Waits for these items. Returns a function that resolves with items ended since its last call, at least one. */
function follow(
  waiter: Waiter,
  items: ReadonlyMap<string, number>,
  seconds: number,
  hungUp: AbortSignal,
): () => Promise<readonly Ended[]> {
  const ended: Ended[] = []
  let wake = (): void => {}
  const wait = async (id: string, index: number): Promise<void> => {
    const record = await waiter.wait(id, seconds, hungUp)
    ended.push({ id, index, record: ended.length < heldRecords ? record : undefined })
    wake()
  }
  for (const [id, index] of items) void wait(id, index)
  return async () => {
    if (ended.length === 0)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    return ended.splice(0, atOnce)
  }
}

/** Returns the lines of these items. An item that is not final is left out, because only its wait ended. */
async function describe(
  database: Database,
  ended: readonly Ended[],
  accountId: string,
): Promise<readonly object[]> {
  const ids = ended.filter(({ record }) => record === undefined).map(({ id }) => id)
  // Most records came with their notification.
  const found =
    ids.length === 0
      ? new Map<string, null>()
      : await withDeadline(() => readResults(database, ids, accountId))
  const { code: error, message } = noSubmission()
  const lines: object[] = []
  for (const { id, index, record = found.get(id) } of ended) {
    const read = record ?? (await readRecord(database, id, accountId))
    // The database restarted and lost the submission.
    if (read === null) lines.push({ index, id, error, message })
    else if (isFinal(read)) lines.push({ index, ...read })
  }
  return lines
}
