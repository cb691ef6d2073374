// Brings old events to today's shape. Rows are never rewritten: when a type's data changes, its version rises and a
// step is added here. test/event/fixture keeps every version ever written.
import type { Event } from './event.ts'

type EventData = Readonly<Record<string, unknown>>

/** Must not fail on what was once written. */
type Upcast = (data: EventData) => EventData

/** For each type the steps to version 2, 3, … */
type Upcasts = Readonly<Record<string, readonly Upcast[]>>

/** Every type that this release knows. */
export const upcasts: Readonly<Record<Event['type'], readonly Upcast[]>> = {
  'submission.received': [],
  'submission.cancel_requested': [],
  'submission.cancelled': [],
  'submission.purged': [],
  'batch.received': [],
  'execution.started': [],
  'execution.completed': [],
  'execution.interrupted': [],
  'execution.abandoned': [],
  'webhook.attempt_failed': [],
  'webhook.delivered': [],
  'webhook.abandoned': [],
  'webhook.replayed': [],
  'api_key.issued': [],
  'api_key.changed': [],
  'api_key.rotated': [],
  'api_key.revoked': [],
  'tier.defined': [],
  'worker.paused': [],
  'worker.resumed': [],
  'worker.drained': [],
  'worker.restarted': [],
}

interface UpcastData {
  readonly data: EventData
  /** Of the shape of `data`. */
  readonly schemaVersion: number
  /** False: a newer release wrote it; `data` is as recorded. */
  readonly isKnown: boolean
}

/** Never throws on an event of the future. */
export function upcast(
  type: string,
  schemaVersion: number,
  data: EventData,
  steps: Upcasts = upcasts,
): UpcastData {
  const ofType = Object.hasOwn(steps, type) ? steps[type] : undefined
  if (ofType === undefined || schemaVersion > ofType.length + 1)
    return { data, schemaVersion, isKnown: false }
  return {
    data: ofType.slice(schemaVersion - 1).reduce((older, step) => step(older), data),
    schemaVersion: ofType.length + 1,
    isKnown: true,
  }
}
