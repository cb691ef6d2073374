// Rebuilds every projection from the log while the service runs. Readers see old rows until a batch commits. Writers wait
// for one batch at most.
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode, sqlState } from '#database'
import type { Database } from '#database'
import { firstId } from '#id'

interface RebuildProgress {
  /** How many submissions were read so far. */
  readonly submissions: number
  /** Rows of results, pending submissions and deliveries that differed from the log. */
  readonly repaired: number
}

/** A batch of this size locks rows for about a tenth of a second. */
const batchSize = 1000

// All transactions lock in one order. Where rows were edited by hand, a deadlock is still possible, so the batch is retried.
const retriedStates: readonly string[] = [sqlState.deadlock, sqlState.lockNotAvailable]
const longestTries = 10

/** Rebuilds all projections, batch by batch. @param onProgress called after each batch. */
export async function rebuildProjections(
  sql: Database,
  onProgress: (soFar: RebuildProgress) => void = () => {},
): Promise<RebuildProgress> {
  let sum: RebuildProgress = { submissions: 0, repaired: 0 }
  for (let after: string | null = firstId; after !== null;) {
    const batch = await rebuildBatch(sql, after)
    sum = {
      submissions: sum.submissions + batch.submissions,
      repaired: sum.repaired + batch.repaired,
    }
    onProgress(sum)
    after = batch.last
  }
  return sum
}

/** `last`: the next batch begins after this id; null at the end. */
type Batch = RebuildProgress & { readonly last: string | null }

async function rebuildBatch(sql: Database, after: string): Promise<Batch> {
  for (let tries = 1; ; tries += 1) {
    try {
      const [batch] = await sql<[Batch]>`
        select * from runledger.rebuild_batch(${after}, ${batchSize})`
      return batch
    } catch (error) {
      if (tries >= longestTries || !retriedStates.includes(errorCode(error) ?? '')) throw error
      await sleep(200 * tries)
    }
  }
}
