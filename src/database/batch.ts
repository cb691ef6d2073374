// Group commit: puts concurrent calls into one SQL statement. Calls of one turn of the event loop, and those that come while
// enough statements are under way, go together in the next one. There is no timer: a lone call is sent in its own turn.
import { hadNoEffect, tookTooLong } from './sql-state.ts'

interface BatchOptions<Item, Answer> {
  /**
   * Sends one statement for all items and answers them in their order. Fewer answers: the others go with the next statement.
   * @param signals the callers': when one fires, an unsent statement is to be withdrawn.
   */
  readonly run: (
    items: readonly Item[],
    signals: readonly AbortSignal[],
  ) => Promise<readonly Answer[]>
  /** Under way at most. */
  readonly statements: number
  /** A statement that takes longer counts no more: what it waits for, a lock or a lost connection, is not the others' affair. */
  readonly slowMilliseconds?: number
  /** In one statement at most. */
  readonly items: number
  /** Of its bodies; nothing unless given. A large item has a statement of its own, at once. */
  readonly countBytes?: (item: Item) => number
}

// A set is held as base64 here and in PostgreSQL.
const largeBytes = 128 * 1024

/**
 * Answers an item, alone or with others.
 * @param signal when it fires before the item was sent, the call fails and had no effect.
 */
export type Batch<Item, Answer> = (item: Item, signal?: AbortSignal) => Promise<Answer>

interface Call<Item, Answer> {
  readonly item: Item
  readonly signal: AbortSignal
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/** Several that fail together without effect are sent once more, each by itself: so only those fail that have to. */
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
      // What took too long would do so again, and its caller has given up.
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
