// Tells the ends of submissions that are watched, each from its record: these are large, so a few at a time are read.
import type { Database } from '#database'
import { readEnd, retryMilliseconds } from './read.ts'
import type { Standing } from './read.ts'
import { groupWatchers } from './topic.ts'
import type { Topic, Topics } from './topic.ts'

export interface EndingOptions {
  readonly sql: Database
  readonly topics: Topics
  /** Who had not taken all before the end is given the rest when he has; and after a failure it is tried again. */
  readonly lookAgain: (topic: Topic) => void
  readonly onError: (error: unknown) => void
}

/** Records that are read at once. */
const most = 3

/** @returns is told of each submission that has ended. */
export function createEndings({
  sql,
  topics,
  lookAgain,
  onError,
}: EndingOptions): (topic: Topic, standing: Standing) => void {
  const waiting: { readonly topic: Topic; readonly standing: Standing }[] = []
  let underWay = 0

  async function finish(topic: Topic, standing: Standing): Promise<void> {
    const seen = await readEnd(sql, standing)
    for (const group of groupWatchers(topic)) {
      if (seen === null) for (const watcher of group.watchers) topics.part(topic, watcher, null)
      else topics.give(group, seen)
    }
  }

  function finishNext(): void {
    if (underWay === most) return
    const next = waiting.shift()
    if (next === undefined) return
    underWay += 1
    const { topic, standing } = next
    void finish(topic, standing)
      .then(
        () => lookAgain(topic),
        (error: unknown) => {
          onError(error)
          setTimeout(() => lookAgain(topic), retryMilliseconds)
        },
      )
      .finally(() => {
        topic.isEnding = false
        underWay -= 1
        finishNext()
      })
  }

  return (topic, standing) => {
    if (topic.isEnding) return
    topic.isEnding = true
    waiting.push({ topic, standing })
    finishNext()
  }
}
