// Lends the slot of a submission between two of its tests, when it has had the slot for a while and another account is
// next by the fair order (runledger.lend_slot). The submission is then parked: its attempt stays under way, with its
// compiled program and its tests' results so far, but its job has ended and it has no slot. It continues when this worker
// takes the job `continue:<worker>`, which no other worker takes. A submission that is shorter than a slice, or beside
// which nobody waits, pays nothing.
import { json, untilAvailable } from '#database'
import { capabilities } from '#options'
import type { Attempt, AttemptDependencies } from './attempt.ts'

/**
 * After this time in its slot, and then as often, a submission asks whether to lend it. Asking takes a statement of a
 * millisecond.
 */
const sliceMilliseconds = 1000
/** A submission that was parked for this long is asked about again, because the answer that handed out its job may be lost. */
const askAgainMilliseconds = 10_000
/**
 * The most parked submissions for each slot, because each keeps its program and its tests' outputs in memory. At this number,
 * running submissions keep their slots to the end.
 */
const mostParked = 8

/** An attempt's hold on its slot. */
export interface Tenure {
  /**
   * Asks between two runs whether to lend the slot. Null: the attempt keeps it. Otherwise the attempt
   * returns it until `resumed` resolves.
   */
  between(): Promise<{ readonly resumed: Promise<void> } | null>
  /** Resolves when `ran` has settled or the attempt is parked. */
  leaves(ran: Promise<unknown>): Promise<void>
  /** Notes that the attempt has ended. If it was parked, its job is removed. */
  end(): void
  /** The time for which the attempt was parked. */
  readonly parkedSeconds: number
}

interface Continuations {
  /** The task of the jobs with which this worker's parked attempts continue. */
  readonly task: string
  /** The number of attempts that are parked now. */
  readonly parked: number
  open(attempt: Attempt): Tenure
  /** Continues the attempt that such a job names. Resolves like `leaves`. */
  goOn(run: string): Promise<void>
  /** Called by the clock: asks again about attempts that are parked for long. */
  look(): void
  /** Stops lending slots, and continues parked attempts. */
  keepSlots(): void
}

interface Parked {
  readonly attempt: Attempt
  askedAt: number
  /** Settles when the last question about it was answered. */
  asking: Promise<void>
  resume(): Promise<void>
}

export function createContinuations(dependencies: AttemptDependencies): Continuations {
  const { database, executor, lease, log } = dependencies
  /** Parked attempts by run. */
  const parked = new Map<string, Parked>()
  let keepsSlots = false

  /** Asks whether to lend the slot. Null when the database did not answer. */
  async function lend({ submission, run }: Attempt, seconds: number): Promise<boolean | null> {
    try {
      const [row] = await database<[{ lent: boolean }]>`
        select runledger.lend_slot(
          ${submission}, ${run}, ${seconds}, ${json(database, Object.keys(executor.runtimes))},
          ${json(database, capabilities)}
        ) as lent`
      return row.lent
    } catch (error) {
      log.warn({ submission, err: error }, 'slot.not_lent')
      return null
    }
  }

  /** Removes a parked attempt's job from the queue. Never rejects, because a job that is left over does nothing. */
  async function forget({ attempt, asking }: Parked): Promise<void> {
    await asking
    const { submission, run } = attempt
    await untilAvailable(
      () => database`select runledger.take_slot(${submission}, ${run})`,
      log,
    ).catch((error: unknown) => log.warn({ submission, err: error }, 'slot.not_taken'))
  }

  /** Continues a parked attempt before its job was taken. */
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
        const isFull = parked.size >= mostParked * executor.slots
        if (keepsSlots || isFull || now - since < sliceMilliseconds) return null
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
    async goOn(run) {
      const one = parked.get(run)
      // The job came twice, or the attempt has ended.
      if (one === undefined) return
      parked.delete(run)
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
