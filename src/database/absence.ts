// Whether the database is there at all, for a process that is about to end: what waits for it would wait for ever.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from './database.ts'

const askMilliseconds = 500

/**
 * Resolves when the database has not answered for so many seconds in a row, and never while it answers.
 * @param sql asked twice a second from now on.
 */
export async function untilAbsent(sql: Database, seconds: number): Promise<void> {
  let silence = 0
  // One question at a time: over a network that loses packets each takes as long as the pool lets it.
  let isAsked = false
  const ask = (): void => {
    if (isAsked) return
    isAsked = true
    sql`select 1`
      .then(
        () => (silence = 0),
        () => {},
      )
      .finally(() => (isAsked = false))
  }
  while (silence < seconds * 1000) {
    ask()
    await sleep(askMilliseconds)
    // By turns, not by the clock: a process that was frozen has asked nothing meanwhile.
    silence += askMilliseconds
  }
}
