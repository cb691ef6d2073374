// Streams of submissions. One reader per process reads all followed submissions in one statement and gives the same bytes to
// all followers at the same position. A follower that is not ready keeps its position.
//
// A row of runledger.watch, renewed while there are followers, makes workers publish what a run writes. Workers and ends
// notify a channel of this process. Notifications get lost, so all followed submissions are also read once a second. When a
// submission has ended, the rest of its stream is made from the record.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '#database'
import { formatPosition } from './event.ts'
import type { Position } from './event.ts'
import { readEnd, readStates } from './read.ts'
import type { State } from './read.ts'
import { continueStory } from './story.ts'
import type { Seen } from './story.ts'

/** A connection that follows a submission. */
interface Follower {
  /** False while the connection has not taken the bytes that it was given. */
  readonly isReady: boolean
  /** Sends bytes. Other followers are given the same buffer. */
  give(bytes: Buffer): void
  /** Sends the last bytes, if any: the submission has ended or is unknown, or this process stops. */
  end(bytes: Buffer | null): void
}

export interface Streams {
  /** The channel on which this process is notified. Secret. */
  readonly channel: string
  /**
   * Adds a follower. The caller must have checked that the submission is the follower's.
   * @returns `noteReady` to call when the follower is ready again, and `leave` to call when it has gone.
   */
  follow(
    id: string,
    from: Position,
    follower: Follower,
  ): { readonly noteReady: () => void; readonly leave: () => void }
  /** Ends every stream, and the LISTEN connection. */
  close(): Promise<void>
}

/** A submission that has followers in this process. */
interface Tail {
  readonly id: string
  readonly followers: Map<Follower, Position>
  /** Until when the submission is watched, by performance.now(). */
  watchedUntil: number
  isEnding: boolean
}

/** Followers of one submission at the same position. */
interface Group {
  readonly tail: Tail
  readonly position: Position
  readonly followers: Follower[]
}

const lookMilliseconds = 1000
/** Notifications that arrive within this time are handled by one read. */
const batchMilliseconds = 5
const retryMilliseconds = 500
const renewMilliseconds = 20_000
/** The most groups in one statement. */
const groupsMost = 200

/** Creates a process's streams. @param onError called when a statement fails; the statement is repeated. */
export function createStreams(sql: Database, onError: (error: unknown) => void): Streams {
  const tails = new Map<string, Tail>()
  /** Submissions for which there may be more to send. */
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
      await sleep(batchMilliseconds)
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
      const states = await readStates(sql, asked)
      for (const [index, group] of groups.entries()) send(group, states[index])
      await watch(new Set(groups.map(({ tail }) => tail)))
    } catch (error) {
      onError(error)
      await sleep(retryMilliseconds)
      for (const { tail } of groups) mark(tail)
    }
  }

  function send(group: Group, state: State | undefined): void {
    const { tail, followers } = group
    if (state === undefined) for (const follower of followers) part(tail, follower, null)
    else if (state.isFinal) finish(tail, state)
    // Something was sent, so there may be more than one read returns.
    else if (give(group, state)) mark(tail)
  }

  /** Sends the group what follows its position. @returns false when nothing follows it. */
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
      // The submission may have ended meanwhile.
      mark(tail)
    }
  }

  /** Queues the read of a record. Records are large, so only one is read at a time. */
  function finish(tail: Tail, state: State): void {
    if (tail.isEnding) return
    tail.isEnding = true
    ends = ends.then(() => sendEnd(tail, state))
  }

  async function sendEnd(tail: Tail, state: State): Promise<void> {
    try {
      const end = await readEnd(sql, tail.id).finally(() => (tail.isEnding = false))
      for (const group of groupFollowers(tail))
        if (end !== null) give(group, { ...state, isQueued: false, end })
        else for (const follower of group.followers) part(tail, follower, null)
    } catch (error) {
      onError(error)
      await sleep(retryMilliseconds)
    }
    // A failed read is repeated, and followers may have come meanwhile.
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
    // A restarted server may have lost the watches, so they are renewed.
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

/** Groups the followers that are ready by their position. */
function groupFollowers(tail: Tail): Group[] {
  if (tail.isEnding) return []
  const groups = new Map<string, Group>()
  for (const [follower, position] of tail.followers) {
    if (!follower.isReady) continue
    const id = formatPosition(position)
    const group = groups.get(id) ?? { tail, position, followers: [] }
    group.followers.push(follower)
    groups.set(id, group)
  }
  return [...groups.values()]
}
