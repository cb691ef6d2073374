// Between two of its tests a submission that has had its slot for a while lends it, when another account is next by the fair order
// (runledger.lend_slot). Then it is parked: its attempt is under way as before, with its compiled program and what its tests have
// given so far, but its job has ended and no slot is its own. A job `continue:<worker>`, which this worker alone takes, says when
// it goes on. A submission that is shorter than a slice, or beside which nobody waits, pays nothing.
import * as v from 'valibot'
import { untilAvailable } from '#retry'
import { capabilities } from '#options'
import type { Attempt, AttemptDependencies } from './attempt.ts'

/** So long it has had its slot before it is asked, and then as often: a question is a statement of a millisecond. */
const sliceMilliseconds = 1000
/** What was parked for so long is asked about again: the answer that handed out its job may have been lost. */
const askAgainMilliseconds = 10_000
/** For each slot: a parked one keeps its program and its tests' outputs in memory. With so many, who runs goes on to its end. */
const mostParked = 8

/** Read from the database, so it is checked. */
const jobSchema = v.object({ run: v.string() })

/** What an attempt knows of its slot. */
export interface Tenure {
  /** Asked between two runs. Null: it goes on; else it gives its slot back until this has resolved. */
  between(): Promise<{ readonly resumed: Promise<void> } | null>
  /** Resolves when `ran` has settled, or when it is parked. */
  leaves(ran: Promise<unknown>): Promise<void>
  /** It has ended: if it was parked, its job is removed. */
  end(): void
  /** For so long it was parked. */
  readonly parkedSeconds: number
}

interface Continuations {
  /** Of the jobs by which this worker's parked attempts go on. */
  readonly task: string
  /** Attempts that are parked now. */
  readonly parked: number
  open(attempt: Attempt): Tenure
  /** Runs what such a job names on. Resolves as `leaves`. */
  goOn(payload: unknown): Promise<void>
  /** Called by the clock. */
  look(): void
  /** From now on no slot is lent, and what is parked goes on. */
  keepSlots(): void
}

interface Parked {
  readonly attempt: Attempt
  askedAt: number
  /** What it asks again. */
  asking: Promise<void>
  resume(): Promise<void>
}

export function createContinuations(
  { database, executor, lease, log }: AttemptDependencies,
  slice = sliceMilliseconds,
): Continuations {
  /** By run. */
  const parked = new Map<string, Parked>()
  let keepsSlots = false

  /** Null: nobody knows, as the database did not answer. */
  async function lend({ submission, run }: Attempt, seconds: number): Promise<boolean | null> {
    try {
      const [row] = await database<[{ lent: boolean }]>`
        select runledger.lend_slot(
          ${submission}, ${run}, ${seconds}, ${Object.keys(executor.runtimes)}::text[], ${[...capabilities]}::text[]
        ) as lent`
      return row.lent
    } catch (error) {
      log.warn({ submission, err: error }, 'slot.not_lent')
      return null
    }
  }

  /** It waits in the queue no more. Never rejects: a job that is left over does nothing. */
  async function forget({ attempt, asking }: Parked): Promise<void> {
    await asking
    const { submission, run } = attempt
    await untilAvailable(
      () => database`select runledger.take_slot(${submission}, ${run})`,
      log,
    ).catch((error: unknown) => log.warn({ submission, err: error }, 'slot.not_taken'))
  }

  /** Without its job. */
  function resume(one: Parked): void {
    if (!parked.delete(one.attempt.run)) return
    void forget(one)
    void one.resume()
  }

  async function askAgain(one: Parked): Promise<void> {
    const lent = await lend(one.attempt, 0)
    if (lent === false) resume(one)
  }

  function open(attempt: Attempt): Tenure {
    const { run } = attempt
    let since = performance.now()
    let parkedSeconds = 0
    let ran: Promise<unknown> = Promise.resolve()
    let place = Promise.withResolvers<void>()

    function park(): { readonly resumed: Promise<void> } {
      const parkedAt = performance.now()
      const { promise: resumed, resolve } = Promise.withResolvers<void>()
      const one: Parked = {
        attempt,
        askedAt: parkedAt,
        asking: Promise.resolve(),
        resume() {
          since = performance.now()
          parkedSeconds += (since - parkedAt) / 1000
          place = Promise.withResolvers()
          resolve()
          return leave()
        },
      }
      parked.set(run, one)
      log.debug({ submission: attempt.submission }, 'slot.lent')
      place.resolve()
      if (keepsSlots) resume(one)
      return { resumed }
    }

    const leave = async (): Promise<void> => {
      await Promise.race([ran, place.promise])
    }

    return {
      async between() {
        const now = performance.now()
        if (keepsSlots || now - since < slice || parked.size >= mostParked * executor.slots)
          return null
        const seconds = (now - since) / 1000
        since = now
        return (await lend(attempt, seconds)) === true ? park() : null
      },
      leaves(until) {
        ran = until
        return leave()
      },
      end() {
        const one = parked.get(run)
        if (one === undefined) return
        parked.delete(run)
        void forget(one)
      },
      get parkedSeconds() {
        return parkedSeconds
      },
    }
  }

  return {
    get task() {
      return `continue:${lease.workerId}`
    },
    get parked() {
      return parked.size
    },
    open,
    async goOn(payload) {
      const parsed = v.safeParse(jobSchema, payload)
      if (!parsed.success) {
        log.error({ issues: v.flatten(parsed.issues) }, 'job.poisoned')
        return
      }
      const one = parked.get(parsed.output.run)
      // Its job came twice, or it has ended.
      if (one === undefined) return
      parked.delete(parsed.output.run)
      await forget(one)
      await one.resume()
    },
    look() {
      const now = performance.now()
      for (const one of parked.values()) {
        if (now - one.askedAt < askAgainMilliseconds) continue
        one.askedAt = now
        one.asking = askAgain(one)
      }
    },
    keepSlots() {
      keepsSlots = true
      for (const one of parked.values()) resume(one)
    },
  }
}
