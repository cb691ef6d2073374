// Company for statements: calls that come in the same turn of the event loop, or while others are under way, are executed
// together next, in one statement and one commit. There is no timer for it: a lone call is executed in that turn, by itself.
// bench/event/gather.bench.ts has the figures.

/** There are defaults. */
export interface GatherBounds {
  /** Executed together. */
  readonly mostCalls?: number
  /** Executions under way beside which another one begins for whatever waits. */
  readonly underWay?: number
  /** And for what is company enough. */
  readonly mostUnderWay?: number
  /** After that an execution is no longer counted as under way. */
  readonly patienceMilliseconds?: number
}

export interface GatherOptions<Call, Answer> extends GatherBounds {
  /** Executes one call by itself. */
  readonly one: (call: Call, signal: AbortSignal) => Promise<Answer>
  /**
   * Executes several. Answers in their order; undefined: this call had no effect and is to be executed by itself, which tells
   * its own error.
   * @param signals the callers': when one fires, what was not sent yet is withdrawn.
   */
  readonly several: (
    calls: readonly Call[],
    signals: readonly AbortSignal[],
  ) => Promise<readonly (Answer | undefined)[]>
  /** True: what failed so had no effect, so that each call is executed by itself. Else all fail alike. */
  readonly hadNoEffect: (error: unknown) => boolean
  readonly weigh: (call: Call) => number
  /** What is heavier is executed by itself. */
  readonly mostWeight: number
}

/**
 * Executes a call, alone or with others.
 * @param signal when it fires before the call was sent, the call fails and had no effect.
 */
export type Gather<Call, Answer> = (call: Call, signal: AbortSignal) => Promise<Answer>

interface Waiting<Call, Answer> {
  readonly call: Call
  readonly signal: AbortSignal
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

const defaultMostCalls = 32
// Of two clients neither waits for the other.
const defaultUnderWay = 2
// So many share almost all that can be shared, and a server with many cores has something for each.
const defaultMostUnderWay = 4
const companyEnough = 8
// One that takes longer waits for a lock or for a connection that is dead. Others need not wait for it.
const defaultPatienceMilliseconds = 25

export function createGather<Call, Answer>({
  one,
  several,
  hadNoEffect,
  weigh,
  mostWeight,
  mostCalls = defaultMostCalls,
  underWay = defaultUnderWay,
  mostUnderWay = defaultMostUnderWay,
  patienceMilliseconds = defaultPatienceMilliseconds,
}: GatherOptions<Call, Answer>): Gather<Call, Answer> {
  let waiting: Waiting<Call, Answer>[] = []
  let executing = 0
  let isBeginning = false

  return (call, signal) =>
    new Promise((resolve, reject) => {
      waiting.push({ call, signal, resolve, reject })
      beginSoon()
    })

  /** At the end of this turn of the event loop. */
  function beginSoon(): void {
    if (isBeginning) return
    isBeginning = true
    setImmediate(() => {
      isBeginning = false
      begin()
    })
  }

  function begin(): void {
    for (;;) {
      waiting = waiting.filter(isStillThere)
      if (waiting.length === 0) return
      const most = waiting.length < companyEnough ? underWay : mostUnderWay
      if (executing >= most) return
      void follow(takeNext())
    }
  }

  async function follow(taken: readonly Waiting<Call, Answer>[]): Promise<void> {
    executing += 1
    let isCounted = true
    const leave = (): void => {
      if (!isCounted) return
      isCounted = false
      executing -= 1
      begin()
    }
    const timer = setTimeout(leave, patienceMilliseconds)
    await execute(taken)
    clearTimeout(timer)
    leave()
  }

  /** At least one. */
  function takeNext(): readonly Waiting<Call, Answer>[] {
    let weight = 0
    const over = waiting.findIndex(({ call }, n) => {
      weight += weigh(call)
      return n === mostCalls || weight > mostWeight
    })
    const count = over === -1 ? waiting.length : Math.max(1, over)
    const taken = waiting.slice(0, count)
    waiting = waiting.slice(count)
    return taken
  }

  /** Never rejects. */
  async function execute(taken: readonly Waiting<Call, Answer>[]): Promise<void> {
    const [first] = taken
    if (first !== undefined && taken.length === 1) {
      await executeAlone(first)
      return
    }
    try {
      const answers = await several(
        taken.map(({ call }) => call),
        taken.map(({ signal }) => signal),
      )
      const apart: Waiting<Call, Answer>[] = []
      for (const [n, each] of taken.entries()) {
        const answer = answers[n]
        if (answer === undefined) apart.push(each)
        else each.resolve(answer)
      }
      await Promise.all(apart.map(executeAlone))
    } catch (error) {
      if (hadNoEffect(error)) await Promise.all(taken.map(executeAlone))
      else for (const { reject } of taken) reject(error)
    }
  }

  async function executeAlone(each: Waiting<Call, Answer>): Promise<void> {
    if (!isStillThere(each)) return
    await one(each.call, each.signal).then(each.resolve, each.reject)
  }

  function isStillThere({ signal, reject }: Waiting<Call, Answer>): boolean {
    if (signal.aborted) reject(signal.reason)
    return !signal.aborted
  }
}
