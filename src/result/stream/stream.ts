// Streams of submissions: one reader per process, which reads the submissions that are followed here in one statement and
// gives the same bytes to all followers at the same position. A follower that does not take them stays where it is.
//
// A row of runledger.watch, renewed while anybody follows, makes workers publish what a run writes; they and ends notify on
// a channel of this process. Notifications get lost, so once a second everything that is followed is read. The end is sent
// by its record, whatever was sent before.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '#database'
import { formatPosition } from './event.ts'
import type { Position } from './event.ts'
import { readEnd, readStandings } from './read.ts'
import type { Standing } from './read.ts'
import { continueStory } from './story.ts'
import type { Seen } from './story.ts'

/** A connection that follows a submission. */
interface Follower {
  /** False while it has not taken what it was given. */
  readonly isReady: boolean
  /** Others are given the same bytes. */
  give(bytes: Buffer): void
  /** Nothing more comes: the submission has ended, or is unknown, or this process stops. */
  end(bytes: Buffer | null): void
}

export interface Streams {
  /** Where this process is notified of ends. A secret. */
  readonly channel: string
  /** The caller has seen to whose submission it is. @returns to be called when it is ready again, and when it has gone. */
  follow(
    id: string,
    from: Position,
    follower: Follower,
  ): { readonly noteReady: () => void; readonly leave: () => void }
  /** Ends every stream, and the connection. */
  close(): Promise<void>
}

/** A submission that is followed here. */
interface Tail {
  readonly id: string
  readonly followers: Map<Follower, Position>
  /** By performance.now(). */
  watchedUntil: number
  isEnding: boolean
}

/** Followers of one submission at the same position. */
interface Group {
  readonly tail: Tail
  readonly position: Position
  readonly followers: readonly Follower[]
}

const lookMilliseconds = 1000
/** Notifications that come together are read together. */
const gatherMilliseconds = 5
const retryMilliseconds = 500
const renewMilliseconds = 20_000
/** In one statement. */
const groupsMost = 200

/** @param onError a statement has failed; it is repeated. */
export function createStreams(sql: Database, onError: (error: unknown) => void): Streams {
  const tails = new Map<string, Tail>()
  /** There may be more to send. */
  const dirty = new Set<Tail>()
  const channel = `runledger_${randomBytes(16).toString('hex')}`
  let ends = Promise.resolve()
  let isLooking = false
  let isClosed = false

  function mark(tail: Tail | undefined): void {
    if (tail === undefined || isClosed) return
    dirty.add(tail)
    if (!isLooking) void look()
  }

  async function look(): Promise<void> {
    isLooking = true
    while (dirty.size > 0 && !isClosed) {
      await sleep(gatherMilliseconds)
      const groups = [...dirty].flatMap(groupFollowers)
      dirty.clear()
      for (let n = 0; n < groups.length; n += groupsMost)
        await readGroups(groups.slice(n, n + groupsMost))
    }
    isLooking = false
  }

  async function readGroups(groups: readonly Group[]): Promise<void> {
    try {
      const asked = groups.map(({ tail: { id }, position }) => ({ id, position }))
      const standings = await readStandings(sql, asked)
      for (const [index, group] of groups.entries()) send(group, standings[index])
      await watch(new Set(groups.map(({ tail }) => tail)))
    } catch (error) {
      onError(error)
      await sleep(retryMilliseconds)
      for (const { tail } of groups) mark(tail)
    }
  }

  function send(group: Group, standing: Standing | undefined): void {
    const { tail, followers } = group
    if (standing === undefined) for (const follower of followers) part(tail, follower, null)
    else if (standing.isFinal) finish(tail, standing)
    // There was something, so there may be more than one reading takes.
    else if (give(group, standing)) mark(tail)
  }

  /** @returns false when nothing follows their position. */
  function give({ tail, position: from, followers }: Group, seen: Seen): boolean {
    const { text, position } = continueStory(from, seen)
    if (text === '') return false
    const bytes = Buffer.from(text)
    for (const follower of followers) {
      if (!tail.followers.has(follower)) continue
      tail.followers.set(follower, position)
      if (seen.end === null) follower.give(bytes)
      else part(tail, follower, bytes)
    }
    return true
  }

  async function watch(which: Iterable<Tail>): Promise<void> {
    const now = performance.now()
    const due = [...which].filter(
      (tail) => tail.watchedUntil < now && tail.followers.size > 0 && !tail.isEnding,
    )
    if (due.length === 0) return
    await sql`select runledger.watch_submissions(${due.map(({ id }) => id)}::uuid[], ${channel})`
    for (const tail of due) {
      tail.watchedUntil = now + renewMilliseconds
      // It may have ended meanwhile.
      mark(tail)
    }
  }

  /** Records are large: one is read at a time. */
  function finish(tail: Tail, standing: Standing): void {
    if (tail.isEnding) return
    tail.isEnding = true
    ends = ends.then(() => sendEnd(tail, standing))
  }

  async function sendEnd(tail: Tail, standing: Standing): Promise<void> {
    try {
      const end = await readEnd(sql, tail.id).finally(() => (tail.isEnding = false))
      for (const group of groupFollowers(tail))
        if (end !== null) give(group, { ...standing, isQueued: false, end })
        else for (const follower of group.followers) part(tail, follower, null)
    } catch (error) {
      onError(error)
      await sleep(retryMilliseconds)
    }
    // A failure is repeated, and some followers may have come meanwhile.
    mark(tail)
  }

  function leave(tail: Tail, follower: Follower): void {
    tail.followers.delete(follower)
    if (tail.followers.size === 0 && tails.get(tail.id) === tail) tails.delete(tail.id)
  }

  function part(tail: Tail, follower: Follower, bytes: Buffer | null): void {
    leave(tail, follower)
    follower.end(bytes)
  }

  function hear(text: string): void {
    try {
      mark(tails.get((JSON.parse(text) as { readonly id: string }).id))
    } catch (error) {
      onError(error)
    }
  }

  const listening = sql.listen(channel, hear, () => {
    // A server that was restarted has forgotten what is watched.
    for (const tail of tails.values()) tail.watchedUntil = 0
    tails.values().forEach(mark)
  })
  listening.catch(onError)
  const looker = setInterval(() => tails.values().forEach(mark), lookMilliseconds)

  return {
    channel,
    follow(id, from, follower) {
      const tail = tails.get(id) ?? { id, followers: new Map(), watchedUntil: 0, isEnding: false }
      tails.set(id, tail)
      tail.followers.set(follower, from)
      if (isClosed) part(tail, follower, null)
      mark(tail)
      return { noteReady: () => mark(tail), leave: () => leave(tail, follower) }
    },
    async close() {
      isClosed = true
      clearInterval(looker)
      for (const tail of tails.values())
        for (const follower of tail.followers.keys()) part(tail, follower, null)
      await listening.then(({ unlisten }) => unlisten()).catch(() => {})
    },
  }
}

/** Those that are ready to be given something. */
function groupFollowers(tail: Tail): Group[] {
  if (tail.isEnding) return []
  const ready = [...tail.followers].filter(([{ isReady }]) => isReady)
  const groups = Map.groupBy(ready, ([, position]) => formatPosition(position))
  return groups
    .values()
    .toArray()
    .flatMap((members) => {
      const [first] = members
      if (first === undefined) return []
      return [{ tail, position: first[1], followers: members.map(([follower]) => follower) }]
    })
}
