// Submissions as they go on, for those who watch: one reader per process, which asks for all of them in one statement and
// gives what it read to everybody who has come as far. Nothing is kept for a watcher: he has a position, and one who does not
// take what he is given stays where he is.
//
// Who watches what is asked for stands in runledger.watch, for a minute at a time; workers then tell what runs write, and
// this process hears on a channel of its own that there is more, or that one has ended. Words get lost: once a second
// everything that is watched is looked at. The end is told from its record, whatever was told before.
import { randomBytes } from 'node:crypto'
import type { Database } from '#database'
import { advance } from './advance.ts'
import type { Seen } from './advance.ts'
import { formatPosition } from './position.ts'
import type { Position } from './position.ts'
import { readEnd, readStanding } from './read.ts'
import type { Standing } from './read.ts'

/** One who watches. */
export interface Watcher {
  /** False while he has not taken what he was given. */
  readonly isReady: boolean
  /** Bytes that others are given too. */
  give(bytes: Buffer): void
  /** Nothing more comes: it has ended, it is not known any more, or this process stops. */
  end(bytes: Buffer | null): void
}

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

/** Whoever watches one submission. */
interface Topic {
  readonly id: string
  readonly watchers: Map<Watcher, Position>
  /** Asked for until then, by performance.now(). */
  askedUntil: number
  /** There may be more for some of them. */
  isDirty: boolean
  /** When there may last have been more for all of them, by a clock of our own. */
  dirtiedAt: number
  isEnding: boolean
}

/** Watchers that have come equally far. */
interface Group {
  readonly topic: Topic
  readonly position: Position
  readonly watchers: readonly Watcher[]
}

const lookMilliseconds = 1000
/** What comes together is read together. */
const gatherMilliseconds = 5
const retryMilliseconds = 500
const renewMilliseconds = 20_000
/** In one statement. */
const groupsMost = 200
const renewalsMost = 1000
/** Records that are read at once. */
const endingsMost = 3

/** @param onError reading fails here; it is tried again. */
export function createStreams(sql: Database, onError: (error: unknown) => void): Streams {
  const topics = new Map<string, Topic>()
  const channel = `runledger_${randomBytes(16).toString('hex')}`
  const readAt = new WeakMap<Watcher, number>()
  let clock = 0
  const toEnd: { readonly topic: Topic; readonly standing: Standing }[] = []
  let ending = 0
  let isClosed = false
  let looking = false
  let timer: NodeJS.Timeout | undefined

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
      // Last in the row next time.
      topics.delete(topic.id)
      topics.set(topic.id, topic)
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
      for (const watcher of watchers) part(topic, watcher, null)
    } else if (standing.isFinal) {
      end(topic, standing)
    } else if (give(group, standing.seen)) {
      // There was something, so there may be more than one reading takes.
      mark(topic)
    }
  }

  /** @returns whether there was anything new. */
  function give({ topic, position: from, watchers }: Group, seen: Seen): boolean {
    const { text, position } = advance(from, seen)
    if (text === '') return false
    const bytes = Buffer.from(text)
    for (const watcher of watchers) {
      if (!topic.watchers.has(watcher)) continue
      topic.watchers.set(watcher, position)
      if (seen.record === null) watcher.give(bytes)
      else part(topic, watcher, bytes)
    }
    return true
  }

  function end(topic: Topic, standing: Standing): void {
    if (topic.isEnding) return
    topic.isEnding = true
    toEnd.push({ topic, standing })
    endNext()
  }

  function endNext(): void {
    if (ending === endingsMost) return
    const next = toEnd.shift()
    if (next === undefined) return
    ending += 1
    const { topic } = next
    void finish(topic, next.standing)
      .then(
        // Who had not taken all is given the rest when he has.
        () => dirty(topic),
        (error: unknown) => {
          onError(error)
          setTimeout(() => dirty(topic), retryMilliseconds)
        },
      )
      .finally(() => {
        topic.isEnding = false
        ending -= 1
        endNext()
      })
  }

  async function finish(topic: Topic, standing: Standing): Promise<void> {
    const seen = await readEnd(sql, standing)
    for (const group of groupWatchers(topic)) {
      if (seen === null) for (const watcher of group.watchers) part(topic, watcher, null)
      else give(group, seen)
    }
  }

  function part(topic: Topic, watcher: Watcher, bytes: Buffer | null): void {
    leave(topic, watcher)
    watcher.end(bytes)
  }

  function leave(topic: Topic, watcher: Watcher): void {
    topic.watchers.delete(watcher)
    if (topic.watchers.size === 0 && topics.get(topic.id) === topic) topics.delete(topic.id)
  }

  /** For the output of those that nobody asked for yet, or for long. */
  async function ask(which: Iterable<Topic>): Promise<void> {
    const now = performance.now()
    const due = [...new Set(which)]
      .filter(({ id, askedUntil, isEnding }) => askedUntil < now && !isEnding && topics.has(id))
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

  const lookAtAll = (): void => topics.forEach(dirty)
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
      const topic = topics.get(id) ?? {
        id,
        watchers: new Map<Watcher, Position>(),
        askedUntil: 0,
        isDirty: true,
        dirtiedAt: 0,
        isEnding: false,
      }
      topics.set(id, topic)
      topic.watchers.set(watcher, from)
      if (isClosed) part(topic, watcher, null)
      else dirty(topic)
      return { noteReady: () => dirty(topics.get(id)), leave: () => leave(topic, watcher) }
    },
    async close() {
      isClosed = true
      clearInterval(looker)
      clearTimeout(timer)
      for (const topic of topics.values())
        for (const watcher of topic.watchers.keys()) part(topic, watcher, null)
      await listening.then(({ unlisten }) => unlisten()).catch(() => {})
    },
  }
}

function groupWatchers(topic: Topic, isDue = (_watcher: Watcher): boolean => true): Group[] {
  const groups = new Map<string, Group & { readonly watchers: Watcher[] }>()
  for (const [watcher, position] of topic.watchers) {
    if (!watcher.isReady || !isDue(watcher)) continue
    const key = formatPosition(position)
    const group = groups.get(key) ?? { topic, position, watchers: [] }
    groups.set(key, group)
    group.watchers.push(watcher)
  }
  return [...groups.values()]
}
