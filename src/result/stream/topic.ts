// Who watches which submission, and how far each has come.
import { advance } from './advance.ts'
import type { Seen } from './advance.ts'
import { formatPosition } from './position.ts'
import type { Position } from './position.ts'

/** One who watches. */
export interface Watcher {
  /** False while he has not taken what he was given. */
  readonly isReady: boolean
  /** Bytes that others are given too. */
  give(bytes: Buffer): void
  /** Nothing more comes: it has ended, it is not known any more, or this process stops. */
  end(bytes: Buffer | null): void
}

/** Whoever watches one submission. */
export interface Topic {
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
export interface Group {
  readonly topic: Topic
  readonly position: Position
  readonly watchers: readonly Watcher[]
}

/** Those of a process. */
export interface Topics {
  /** Who was looked at last stands last. */
  values(): MapIterator<Topic>
  get(id: string): Topic | undefined
  moveLast(topic: Topic): void
  join(id: string, watcher: Watcher, from: Position): Topic
  leave(topic: Topic, watcher: Watcher): void
  /** The last that he is given; he leaves. */
  part(topic: Topic, watcher: Watcher, bytes: Buffer | null): void
  /** Gives a group what was seen behind its position. @returns whether there was anything new. */
  give(group: Group, seen: Seen): boolean
}

export function createTopics(): Topics {
  const byId = new Map<string, Topic>()

  function leave(topic: Topic, watcher: Watcher): void {
    topic.watchers.delete(watcher)
    if (topic.watchers.size === 0 && byId.get(topic.id) === topic) byId.delete(topic.id)
  }

  function part(topic: Topic, watcher: Watcher, bytes: Buffer | null): void {
    leave(topic, watcher)
    watcher.end(bytes)
  }

  return {
    values: () => byId.values(),
    get: (id) => byId.get(id),
    moveLast(topic) {
      byId.delete(topic.id)
      byId.set(topic.id, topic)
    },
    join(id, watcher, from) {
      const topic = byId.get(id) ?? {
        id,
        watchers: new Map<Watcher, Position>(),
        askedUntil: 0,
        isDirty: true,
        dirtiedAt: 0,
        isEnding: false,
      }
      byId.set(id, topic)
      topic.watchers.set(watcher, from)
      return topic
    },
    leave,
    part,
    give({ topic, position: from, watchers }, seen) {
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
    },
  }
}

/** Of those that are ready to be given something. */
export function groupWatchers(topic: Topic, isDue = (_watcher: Watcher): boolean => true): Group[] {
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
