// Runs the phases of one request, in one slot at a time. Between phases the request moves to a free slot, while the keeper of
// the old slot makes its next box. The request may give its slot back for a while. A phase that could not start is started in
// another slot, because a failure before a program's first instruction is not the program's fault.
import { untilAborted } from '#abort'
import { NotStartedError } from '#contract'
import type { Boxes, Phase, PhaseRequest, Slot } from '#contract'
import type { SlotPool } from './slot.ts'

/** Runs one phase. Calls must not overlap. */
export type PhaseRunner = (request: PhaseRequest) => Promise<Phase>

/** Gives the slot back between two phases, waits for `resumed` and takes a slot again. @throws as `withSlot`. */
export type Pause = (resumed: Promise<void>) => Promise<void>

/** Number of slots that one request may try. */
const slotsMost = 3

/**
 * Holds a slot while the work lasts. A slot is lent again when it is clear, and never if it cannot be cleared.
 * @param waiting ends the wait for a slot; `signal` ends everything.
 * @throws {SandboxError} when the sandbox failed; the reason of the signal that was aborted.
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
        left = slots.release(slot, boxes.clearing(slot))
        slot = await acquireAnother(slots, left, waiting, error)
        left = null
        taken += 1
      }
    }
  }

  async function pause(resumed: Promise<void>): Promise<void> {
    left = slots.release(slot, boxes.clearing(slot))
    left.catch(() => {})
    await untilAborted(resumed, waiting)
    slot = await slots.acquire(waiting)
    left = null
    isFirst = true
  }

  try {
    return await work(runPhase, pause)
  } finally {
    if (left === null) slots.release(slot, boxes.clearing(slot)).catch(() => {})
  }
}

/**
 * Waits for any free slot; the slot just left is free again once it is clear. If it can never be cleared, the wait ends with an
 * error, because the holders of the other slots may be waiting for this request.
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
