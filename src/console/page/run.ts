// One run at a time, kept apart from the view: who looks at another page and comes back finds it as it stands.
import { RunledgerError } from '#client'
import type { Result, SubmissionRequest } from '#client'
import { key, keep, recall } from './session.ts'
import { cancel, isFinal, read, submit, watch } from './service.ts'
import { createStore } from './store.ts'

export interface Run {
  /** Null until the service has it. */
  readonly id: string | null
  readonly record: Result | null
  /** Why it did not begin, or is no longer followed. */
  readonly failure: RunledgerError | null
  /** When it was sent, by performance.now(); null of one that an earlier page sent. */
  readonly since: number | null
  readonly isStopping: boolean
}

export const run = createStore<Run | null>(null)

let following = new AbortController()

/** True while there is something to stop. */
export function isUnderWay(one: Run | null): boolean {
  return one !== null && one.failure === null && (one.record === null || !isFinal(one.record))
}

export async function begin(request: SubmissionRequest): Promise<void> {
  const signal = restart()
  change({ id: null, record: null, failure: null, since: performance.now(), isStopping: false })
  await tellFailure(signal, async () => {
    const id = await submit(request, signal)
    keep('last', id)
    change({ id })
    await follow(id, signal)
  })
}

/** The last run of this tab. */
export async function resume(): Promise<void> {
  const id = recall('last')
  if (id === null || key.get() === null || run.get() !== null) return
  const signal = restart()
  run.set({ id, record: null, failure: null, since: null, isStopping: false })
  await tellFailure(signal, () => follow(id, signal))
}

async function follow(id: string, signal: AbortSignal): Promise<void> {
  await watch(id, signal, (record) => change({ record }))
}

/** What was not yet taken is not sent again; what was is taken back. */
export async function stop(): Promise<void> {
  const now = run.get()
  if (now === null || !isUnderWay(now)) return
  if (now.id === null) {
    following.abort()
    run.set(null)
    return
  }
  change({ isStopping: true })
  const { id } = now
  await tellFailure(following.signal, async () => {
    const record = await cancel(id)
    // The watch tells the end of what runs; of what waited this is it.
    if (isFinal(record)) change({ record: await read(id, following.signal) })
  })
}

/** With the key goes what it ran. */
export function forget(): void {
  following.abort()
  run.set(null)
}

function restart(): AbortSignal {
  following.abort()
  following = new AbortController()
  return following.signal
}

function change(part: Partial<Run>): void {
  const now = run.get()
  run.set({
    id: null,
    record: null,
    failure: null,
    since: null,
    isStopping: false,
    ...now,
    ...part,
  })
}

async function tellFailure(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (signal.aborted) return
    if (!(error instanceof RunledgerError)) throw error
    // A refused key is told where another one is asked for.
    if (error.status === 401) run.set(null)
    else change({ failure: error, isStopping: false })
  }
}
