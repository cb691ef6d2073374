// Two programs that speak with each other, each in a box of its own: what one writes is the other's input. A keeper each, for
// this run alone; the worker carries the bytes between them, so that a side that does not read holds up the other, and that
// the end of one is known before the other can notice it.
import { asNotStarted, judgeEnding } from '#contract'
import type { Phase, PhaseRequest, Slot } from '#contract'
import type { Readable, Writable } from 'node:stream'
import { openKeeper } from './open.ts'
import type { BoxResources, OpenKeeper } from './open.ts'

/** Keeps a slot from being lent until then. */
export type Hold = (cleared: Promise<void>) => void

interface Side extends OpenKeeper {
  /** Ends its run. */
  readonly stop: AbortController
}

/** For what a program wrote last to come through, once its box is gone. */
const drainMilliseconds = 5000

let pairsMade = 0

/** @returns the request's phase, with that of its `interactor`. @throws as `Boxes.run`. */
export async function runPair(
  resources: BoxResources,
  slot: Slot,
  request: PhaseRequest,
  interactor: PhaseRequest,
  hold: Hold,
  signal?: AbortSignal,
): Promise<Phase> {
  pairsMade += 1
  const name = `pair-${pairsMade}`
  const open = async (
    suffix: string,
    uid: number | null,
    { network = 'none' }: PhaseRequest,
  ): Promise<Side> => {
    const launch = { name: `${name}-${suffix}`, uid, network, ownStreams: true }
    return { ...(await openKeeper(resources, launch, hold)), stop: new AbortController() }
  }
  const opened = await Promise.allSettled([
    open('program', slot.uid, request),
    open('interactor', slot.interactorUid, interactor),
  ])
  const [one, other] = opened.map((each) => (each.status === 'fulfilled' ? each.value : null))
  if (!one || !other) {
    for (const side of [one, other]) if (side) hold(leave(side))
    throw asNotStarted(opened.find((each) => each.status === 'rejected')?.reason)
  }
  try {
    return await converse([one, request], [other, interactor], signal)
  } finally {
    hold(leave(one))
    hold(leave(other))
  }
}

async function leave({ keeper, close }: Side): Promise<void> {
  await keeper.settling
  await close()
}

async function converse(
  [program, asked]: readonly [Side, PhaseRequest],
  [interactor, askedToo]: readonly [Side, PhaseRequest],
  signal?: AbortSignal,
): Promise<Phase> {
  const written = carry(program, interactor, asked.limits.stdoutBytes)
  const answered = carry(interactor, program, askedToo.limits.stdoutBytes)
  let first: Side | null = null
  const live = async (
    [side, other]: readonly [Side, Side],
    request: PhaseRequest,
    output: ReturnType<typeof carry>,
  ): Promise<Phase> => {
    const stop = AbortSignal.any([side.stop.signal, ...(request.stop ? [request.stop] : [])])
    const evidence = await side.run({ ...request, stop }, signal)
    first ??= side
    const phase = judgeEnding(request, evidence)
    const isOver = output.hasExceeded()
    const ending = isOver && phase.ending === 'cancelled' ? 'output_limit' : phase.ending
    // Nothing that the other one does counts any more.
    if (first === side && (ending !== 'exited' || phase.exitCode !== 0)) other.stop.abort()
    return { ...phase, ending, stdoutTruncated: isOver }
  }
  const ended = await Promise.allSettled(
    [
      live([program, interactor], asked, written),
      live([interactor, program], askedToo, answered),
    ].map(async (run) =>
      run.catch((error: unknown) => {
        // One without the other would wait for it.
        program.stop.abort()
        interactor.stop.abort()
        throw error
      }),
    ),
  )
  const failed = ended.find((each) => each.status === 'rejected')
  if (failed) throw failed.reason
  await Promise.all([written.drained(), answered.drained()])
  const [phase, its] = ended.map((each) => (each.status === 'fulfilled' ? each.value : null))
  if (!phase || !its) throw new Error('no phase')
  return {
    ...phase,
    stdout: written.kept(),
    interactor: { phase: its, endedFirst: first === interactor },
  }
}

/** From one side's stdout to the other's stdin, so many bytes at most; one that writes more is ended. */
function carry(from: Side, to: Side, most: number) {
  const source: Readable = from.keeper.streams.output
  const target: Writable = to.keeper.streams.input
  const pieces: Buffer[] = []
  let bytes = 0
  const over = Promise.withResolvers<void>()
  const flow = (): void => void source.resume()
  source.on('data', (chunk: Buffer) => {
    const taken = chunk.subarray(0, Math.max(0, most - bytes))
    bytes += chunk.length
    if (taken.length > 0) {
      // A copy: the stream's buffer is larger.
      pieces.push(Buffer.from(taken))
      if (target.writable && !target.write(taken)) source.pause()
    }
    if (bytes > most) from.stop.abort()
  })
  source.on('end', () => target.end())
  source.on('close', over.resolve)
  source.on('end', over.resolve)
  target.on('drain', flow)
  // What is written for one that has ended is read, and goes nowhere.
  target.on('error', flow)
  target.on('close', flow)
  return {
    kept: () => Buffer.concat(pieces),
    hasExceeded: () => bytes > most,
    /** Resolves when no more can come. */
    async drained() {
      flow()
      const timer = setTimeout(() => source.destroy(), drainMilliseconds)
      await over.promise
      clearTimeout(timer)
    },
  }
}
