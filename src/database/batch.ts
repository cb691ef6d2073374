// Lets concurrent calls share statements: calls that differ are put into one statement (group commit), equal reads are made
// once. Calls of one turn of the event loop, and calls that arrive while enough statements are under way, share the next
// statement. There is no timer: a lone call is sent in its own turn.
import { hadNoEffect, tookTooLong } from './sql-state.ts'

interface BatchOptions<Item, Answer> {
  /**
   * Sends one statement for all items and returns their answers in the items' order. Items without an
   * answer go with the next statement.
   * @param signals the callers' signals: when one fires, `run` must withdraw an unsent statement.
   */
  readonly run: (
    items: readonly Item[],
    signals: readonly AbortSignal[],
  ) => Promise<readonly Answer[]>
  /** The most statements under way. */
  readonly statements: number
  /** A slower statement no longer counts as under way, so that other calls do not wait for its lock or its lost connection. */
  readonly slowMilliseconds?: number
  /** The most items in one statement. */
  readonly items: number
  /** Counts the bytes of an item's bodies; 0 by default. A large item is sent at once, in a statement of its own. */
  readonly countBytes?: (item: Item) => number
}

// Larger items go alone, because a statement's items are held as base64 here and in PostgreSQL.
const largeBytes = 128 * 1024

/**
 * Sends an item, alone or with others, and returns its answer.
 * @param signal when it fires before the item is sent, the call fails without effect.
 */
export type Batch<Item, Answer> = (item: Item, signal?: AbortSignal) => Promise<Answer>

interface Call<Item, Answer> {
  readonly item: Item
  readonly signal: AbortSignal
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/**
 * Creates a batch. When a statement of several items fails without effect, each item is sent again alone, so
 * that only the faulty ones fail.
 */
export function createBatch<Item, Answer>({
  run,
  statements,
  slowMilliseconds = 100,
  items,
  countBytes = () => 0,
}: BatchOptions<Item, Answer>): Batch<Item, Answer> {
  let waiting: Call<Item, Answer>[] = []
  let underWay = 0

  function begin(): void {
    waiting = waiting.filter(isWanted)
    while (waiting.length > 0 && underWay < statements) {
      underWay += 1
      let counts = true
      const end = (): void => {
        if (counts) underWay -= 1
        counts = false
        begin()
      }
      const slow = setTimeout(end, slowMilliseconds)
      void send(waiting.splice(0, items)).finally(() => {
        clearTimeout(slow)
        end()
      })
    }
  }

  /** Never rejects. */
  async function send(calls: readonly Call<Item, Answer>[]): Promise<void> {
    try {
      const [taken, signals] = [calls.map(({ item }) => item), calls.map(({ signal }) => signal)]
      const answers = await run(taken, signals)
      for (const [n, answer] of answers.entries()) calls[n]?.resolve(answer)
      waiting.unshift(...calls.slice(answers.length))
    } catch (error) {
      // A statement that timed out would time out again, and its caller no longer waits.
      if (calls.length > 1 && hadNoEffect(error) && !tookTooLong(error))
        await Promise.all(calls.filter(isWanted).map((call) => send([call])))
      else for (const { reject } of calls) reject(error)
    }
  }

  function isWanted({ signal, reject }: Call<Item, Answer>): boolean {
    if (signal.aborted) reject(signal.reason)
    return !signal.aborted
  }

  return (item, signal = new AbortController().signal) =>
    new Promise((resolve, reject) => {
      const call = { item, signal, resolve, reject }
      if (countBytes(item) > largeBytes) {
        void send([call]).finally(begin)
        return
      }
      if (waiting.length === 0) setImmediate(begin)
      waiting.push(call)
    })
}

/**
 * Wraps a read so that its result is kept for `keptMilliseconds`. At most one read is under way, and none is started while no
 * caller asks. A failed read is not kept.
 */
export function cachedRead<T>(read: () => Promise<T>, keptMilliseconds: number): () => Promise<T> {
  let kept: Promise<T> | null = null
  let keptUntil = Number.POSITIVE_INFINITY
  return () => {
    if (kept !== null && performance.now() < keptUntil) return kept
    const reading = read()
    kept = reading
    keptUntil = Number.POSITIVE_INFINITY
    reading.then(
      () => (keptUntil = performance.now() + keptMilliseconds),
      () => {
        if (kept === reading) kept = null
      },
    )
    return reading
  }
}
