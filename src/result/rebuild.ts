// Rebuilds every projection from the log while the service runs: readers see old rows until a batch commits, writers
// wait for one batch at most.
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode, sqlState } from '#database'
import type { Database } from '#database'
import { firstId } from '#id'

interface RebuildProgress {
  /** Read so far. */
  readonly submissions: number
  /** Rows of results, pending submissions and deliveries that differed from the log. */
  readonly repaired: number
}

/** Locks rows for about a tenth of a second. */
const batchSize = 1000

// All lock in one order; where rows were edited two may meet all the same, and one has to give way.
const retriedStates: readonly string[] = [sqlState.deadlock, sqlState.lockNotAvailable]
const longestTries = 10

/** @param onProgress called after each batch. */
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

/** `last`: to go on behind; null at the end. */
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
