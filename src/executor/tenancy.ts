// Runs the phases of one request, in one slot at a time: between phases it moves to a free one while the one that it left is
// cleared, and it may give its slot back for a while. A phase that could not begin begins in another slot: what fails before a
// program's first instruction is not the program's doing.
import { untilAborted } from '#abort'
import { NotStartedError } from '#contract'
import type { Boxes, Phase, PhaseRequest, Slot } from '#contract'
import type { SlotPool } from './slot.ts'

/** Runs one phase; one at a time. */
export type PhaseRunner = (request: PhaseRequest) => Promise<Phase>

/** Between two phases: gives the slot back until this has resolved, and takes one again. @throws as `withSlot`. */
export type Pause = (resumed: Promise<void>) => Promise<void>

/** Slots that one request may try. */
const slotsMost = 3

/**
 * Takes a slot for as long as the work lasts; while there is none, `waiting` ends it as well. A slot is lent again when it is
 * clear, and never if it cannot be cleared.
 * @throws {SandboxError} when we failed; the reason of the signal that was aborted.
 */
export async function withSlot<Result>(
  slots: SlotPool,
  boxes: Boxes,
  signal: AbortSignal,
  work: (runPhase: PhaseRunner, pause: Pause) => Promise<Result>,
  waiting: AbortSignal = signal,
): Promise<Result> {
  let slot = await slots.acquire(waiting)
  let left: Promise<void> | null = null
  let taken = 1
  let isFirst = true

  async function runPhase(request: PhaseRequest): Promise<Phase> {
    if (!isFirst && boxes.clearing(slot) === null) slot = slots.exchange(slot)
    isFirst = false
    for (;;) {
      try {
        return await boxes.run(slot, request, signal)
      } catch (error) {
        if (!(error instanceof NotStartedError) || taken === slotsMost) throw error
        left = slots.giveBack(slot, boxes.clearing(slot))
        slot = await acquireAnother(slots, left, waiting, error)
        left = null
        taken += 1
      }
    }
  }

  async function pause(resumed: Promise<void>): Promise<void> {
    left = slots.giveBack(slot, boxes.clearing(slot))
    left.catch(() => {})
    await untilAborted(resumed, waiting)
    slot = await slots.acquire(waiting)
    left = null
    isFirst = true
  }

  try {
    return await work(runPhase, pause)
  } finally {
    if (left === null) slots.giveBack(slot, boxes.clearing(slot)).catch(() => {})
  }
}

/**
 * Any that is free, or the one just left when it is clear. When that one never will be, the wait ends with an error: whoever
 * has the other slots may be waiting for this request.
 */
async function acquireAnother(
  slots: SlotPool,
  left: Promise<void>,
  signal: AbortSignal,
  refusal: NotStartedError,
): Promise<Slot> {
  const unclearable = new AbortController()
  left.catch(() => unclearable.abort(refusal))
  return slots.acquire(AbortSignal.any([signal, unclearable.signal]), true)
}
