// Runs an evaluation's samples in batches at low priority. Each batch has an idempotency key that is derived from its content,
// so a killed evaluation continues when it is called again, and nothing runs twice within a day.
import { hash } from 'node:crypto'
import type { Client, EndedItem } from '#client'
import { uploadLongTexts } from '../long-text.ts'
import type { Sample } from './sample.ts'

/** A sample and its result. A refused sample has no record. */
export interface Evaluated {
  readonly sample: Sample
  readonly end: EndedItem
}

interface RunOptions {
  /** The most submissions in a batch. */
  readonly items: number
  /** How many batches run at once. */
  readonly atOnce: number
  readonly onEnd: (evaluated: Evaluated) => void
}

/** How often samples are run again that failed by the service's fault. */
const furtherRounds = 5

/** The most bytes of a batch as JSON, a little less than any key may send. */
const batchBytesMost = 1.9 * 1024 * 1024

/**
 * Runs all samples, again where the service failed.
 * @returns the results in the order of the samples. A result is a fault of the service only if every round had one.
 */
export async function runSamples(
  client: Client,
  samples: readonly Sample[],
  options: RunOptions,
): Promise<readonly Evaluated[]> {
  const ended = new Map<Sample, EndedItem>()
  let left = samples
  for (let round = 0; left.length > 0 && round <= furtherRounds; round += 1) {
    const isLast = round === furtherRounds
    const batches = divide(left, options.items)[Symbol.iterator]()
    const work = async (): Promise<void> => {
      for (const batch of batches) {
        for await (const { sample, end } of runBatch(client, batch, round)) {
          ended.set(sample, end)
          if (isLast || end.fault !== 'platform') options.onEnd({ sample, end })
        }
      }
    }
    await Promise.all(Array.from({ length: options.atOnce }, work))
    // The order is kept, so that a repeated call makes the same batches, with the same keys, in this round too.
    left = left.filter((sample) => ended.get(sample)?.fault === 'platform')
  }
  return samples.flatMap((sample) => {
    const end = ended.get(sample)
    return end === undefined ? [] : [{ sample, end }]
  })
}

async function* runBatch(
  client: Client,
  batch: readonly Sample[],
  round: number,
): AsyncGenerator<Evaluated> {
  const requests = await Array.fromAsync(batch, async ({ request }) => ({
    ...(await uploadLongTexts(client, request)),
    priority: 'low' as const,
  }))
  const idempotencyKey = nameContent(JSON.stringify([round, requests]))
  for await (const end of client.runBatch(requests, { idempotencyKey })) {
    const sample = batch[end.index]
    if (sample !== undefined) yield { sample, end }
  }
}

/** Divides samples into batches by number and by bytes. */
function* divide(samples: readonly Sample[], items: number): Generator<readonly Sample[]> {
  let batch: Sample[] = []
  let bytes = 0
  for (const sample of samples) {
    const own = Buffer.byteLength(JSON.stringify(sample.request))
    if (batch.length === items || (batch.length > 0 && bytes + own > batchBytesMost)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(sample)
    bytes += own
  }
  if (batch.length > 0) yield batch
}

/** Derives a UUID (version 8) from a text. */
function nameContent(content: string): string {
  const hex = hash('sha256', `evaluate:${content}`, 'hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
