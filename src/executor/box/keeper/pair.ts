// Runs two programs that talk with each other, each in a box of its own: each reads what the other writes. Each has a keeper
// for this run alone. The worker carries the bytes between them, so that a program that does not read holds up the other, and
// that the worker knows of one program's end before the other program can notice it.
import { asNotStarted, judgeEnding } from '#contract'
import type { Phase, PhaseRequest, Slot } from '#contract'
import type { Readable, Writable } from 'node:stream'
import type { Hold } from './clearing.ts'
import { openKeeper } from './open.ts'
import type { BoxResources, OpenKeeper } from './open.ts'

interface Side extends OpenKeeper {
  /** Stops the run of this side. */
  readonly stop: AbortController
}

/** How long the last output of a program may take to arrive when its box is gone. */
const drainMilliseconds = 5000

let pairsMade = 0

/** Runs a program and its interactor. @returns the program's phase, with the interactor's. @throws as `Boxes.run` does. */
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
    // When the first side fails, nothing that the other side does counts any more.
    if (first === side && (ending !== 'exited' || phase.exitCode !== 0)) other.stop.abort()
    return { ...phase, ending, stdoutTruncated: isOver }
  }
  const ended = await Promise.allSettled(
    [
      live([program, interactor], asked, written),
      live([interactor, program], askedToo, answered),
    ].map(async (run) =>
      run.catch((error: unknown) => {
        // One side without the other would wait for it in vain.
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

/** Carries at most `most` bytes from one side's stdout to the other's stdin. A side that writes more is stopped. */
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
      // Copied, because the stream's buffer is larger.
      pieces.push(Buffer.from(taken))
      if (target.writable && !target.write(taken)) source.pause()
    }
    if (bytes > most) from.stop.abort()
  })
  source.on('end', () => target.end())
  source.on('close', over.resolve)
  source.on('end', over.resolve)
  target.on('drain', flow)
  // Output for a side that has ended is still read, but dropped.
  target.on('error', flow)
  target.on('close', flow)
  return {
    kept: () => Buffer.concat(pieces),
    hasExceeded: () => bytes > most,
    /** Resolves when no more output can arrive. */
    async drained() {
      flow()
      const timer = setTimeout(() => source.destroy(), drainMilliseconds)
      await over.promise
      clearTimeout(timer)
    },
  }
}
