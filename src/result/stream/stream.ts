// Submissions as they go on, for those who watch: one reader per process, which asks for all of them in one statement and
// gives what it read to everybody who has come as far. Nothing is kept for a watcher: he has a position, and one who does not
// take what he is given stays where he is.
//
// Who watches what is asked for stands in runledger.watch, for a minute at a time; workers then tell what runs write, and
// this process hears on a channel of its own that there is more, or that one has ended. Words get lost: once a second
// everything that is watched is looked at. The end is told from its record, whatever was told before.
import { randomBytes } from 'node:crypto'
import type { Database } from '#database'
import { createEndings } from './ending.ts'
import type { Position } from './position.ts'
import { readStanding, retryMilliseconds } from './read.ts'
import type { Standing } from './read.ts'
import { createTopics, groupWatchers } from './topic.ts'
import type { Group, Topic, Watcher } from './topic.ts'

export interface Streams {
  /** Asks for the output of what is about to be stored: then none of it comes late. */
  announce(id: string): Promise<void>
  /** Where this process hears ends. A secret. */
  readonly channel: string
  /** Whose submission it is was seen to. @returns to be called when he is ready again, and when he has gone. */
  watch(
    id: string,
    from: Position,
    watcher: Watcher,
  ): { readonly noteReady: () => void; readonly leave: () => void }
  /** Ends every stream, and the connection. */
  close(): Promise<void>
}

const lookMilliseconds = 1000
/** What comes together is read together. */
const gatherMilliseconds = 5
const renewMilliseconds = 20_000
/** In one statement. */
const groupsMost = 200
const renewalsMost = 1000
/** @param onError reading fails here; it is tried again. */
export function createStreams(sql: Database, onError: (error: unknown) => void): Streams {
  const topics = createTopics()
  const channel = `runledger_${randomBytes(16).toString('hex')}`
  const readAt = new WeakMap<Watcher, number>()
  let clock = 0
  let isClosed = false
  let looking = false
  let timer: NodeJS.Timeout | undefined
  const end = createEndings({ sql, topics, lookAgain: dirty, onError })

  function schedule(milliseconds: number): void {
    if (looking || timer !== undefined || isClosed) return
    timer = setTimeout(() => {
      timer = undefined
      looking = true
      void look().then(
        (isDone) => goOn(isDone ? null : 0),
        (error: unknown) => {
          onError(error)
          goOn(retryMilliseconds)
        },
      )
    }, milliseconds)
  }

  function goOn(milliseconds: number | null): void {
    looking = false
    if (milliseconds !== null) schedule(milliseconds)
    else if (topics.values().some(({ isDirty, isEnding }) => isDirty && !isEnding))
      schedule(gatherMilliseconds)
  }

  function mark(topic: Topic): void {
    topic.isDirty = true
    topic.dirtiedAt = clock += 1
  }

  function dirty(topic: Topic | undefined): void {
    if (topic === undefined) return
    mark(topic)
    schedule(gatherMilliseconds)
  }

  /** @returns false when there is more to read at once. @throws when the database is away: all stays dirty. */
  async function look(): Promise<boolean> {
    const due = topics.values().filter(({ isDirty, isEnding }) => isDirty && !isEnding).toArray() // prettier-ignore
    // Each has its turn, however many stand at different places.
    const groups = due.flatMap((topic) =>
      groupWatchers(topic, (watcher) => (readAt.get(watcher) ?? 0) < topic.dirtiedAt),
    )
    for (const topic of due) {
      topic.isDirty = false
      topics.moveLast(topic)
    }
    const some = groups.slice(0, groupsMost)
    for (const { topic } of groups.slice(groupsMost)) topic.isDirty = true
    if (some.length === 0) return true
    for (const { topic, watchers } of some)
      for (const watcher of watchers) readAt.set(watcher, topic.dirtiedAt)
    try {
      const standings = await readStanding(
        sql,
        some.map(({ topic: { id }, position }) => ({ id, position })),
      )
      for (const [index, group] of some.entries()) tell(group, standings[index])
      await ask(some.map(({ topic }) => topic))
    } catch (error) {
      for (const { topic } of some) mark(topic)
      throw error
    }
    return groups.length <= groupsMost
  }

  function tell(group: Group, standing: Standing | undefined): void {
    const { topic, watchers } = group
    if (standing === undefined) {
      for (const watcher of watchers) topics.part(topic, watcher, null)
    } else if (standing.isFinal) {
      end(topic, standing)
    } else if (topics.give(group, standing.seen)) {
      // There was something, so there may be more than one reading takes.
      mark(topic)
    }
  }

  /** For the output of those that nobody asked for yet, or for long. */
  async function ask(which: Iterable<Topic>): Promise<void> {
    const now = performance.now()
    const due = [...new Set(which)]
      .filter(
        ({ id, askedUntil, isEnding }) =>
          askedUntil < now && !isEnding && topics.get(id) !== undefined,
      )
      .slice(0, renewalsMost)
    if (due.length === 0) return
    await register(due.map(({ id }) => id))
    for (const topic of due) {
      topic.askedUntil = now + renewMilliseconds
      // It may have ended before it was asked for.
      dirty(topic)
    }
  }

  async function register(ids: readonly string[]): Promise<void> {
    await sql`select runledger.watch_submissions(${[...ids]}::uuid[], ${channel})`
  }

  function hear(text: string): void {
    try {
      dirty(topics.get((JSON.parse(text) as { readonly id: string }).id))
    } catch (error) {
      onError(error)
    }
  }

  const lookAtAll = (): void => topics.values().forEach(dirty)
  const listening = sql.listen(channel, hear, () => {
    // Who was restarted has forgotten what was asked.
    for (const topic of topics.values()) topic.askedUntil = 0
    lookAtAll()
  })
  listening.catch(onError)
  const looker = setInterval(lookAtAll, lookMilliseconds)

  return {
    channel,
    announce: (id) => register([id]),
    watch(id, from, watcher) {
      const topic = topics.join(id, watcher, from)
      if (isClosed) topics.part(topic, watcher, null)
      else dirty(topic)
      return { noteReady: () => dirty(topics.get(id)), leave: () => topics.leave(topic, watcher) }
    },
    async close() {
      isClosed = true
      clearInterval(looker)
      clearTimeout(timer)
      for (const topic of topics.values())
        for (const watcher of topic.watchers.keys()) topics.part(topic, watcher, null)
      await listening.then(({ unlisten }) => unlisten()).catch(() => {})
    },
  }
}
