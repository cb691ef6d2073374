// Old events in today's shape. Rows are never rewritten: when the data of a type changes, its version is raised and a step
// from the version before is added here; whoever reads sees only the latest. test/event/fixture keeps an event of every
// version that was ever written.
import type { Event } from './event.ts'

/** An event's data as JSON. */
export type EventData = Readonly<Record<string, unknown>>

/** Makes data of one version into data of the next. Must not fail on what was once written. */
export type Upcast = (data: EventData) => EventData

/** For each type the steps to version 2, 3, …: a type without steps is at version 1. */
export type Upcasts = Readonly<Record<string, readonly Upcast[]>>

/** Every type that this release knows. */
export const upcasts: Readonly<Record<Event['type'], readonly Upcast[]>> = {
  'submission.received': [],
  'submission.purged': [],
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
}

/** Data in the latest shape that this release knows. */
export interface UpcastData {
  readonly data: EventData
  /** The version whose shape `data` has. */
  readonly schemaVersion: number
  /** False for a type or a version that a newer release wrote: then `data` is as it was recorded. */
  readonly isKnown: boolean
}

/** Brings recorded data up to the latest version. Never throws on an event of the future. */
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
