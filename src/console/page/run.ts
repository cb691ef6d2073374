// The playground's run, one at a time. It is kept outside the view, so that it goes on while the user looks at another view.
import { RunledgerError } from '#client'
import type { Result, SubmissionRequest } from '#client'
import { readAsked, usuallyAsked } from './asked.ts'
import type { Asked } from './asked.ts'
import { nothingYet } from './live.ts'
import type { Live } from './live.ts'
import { cancel, isFinal, read, submit } from './service.ts'
import { key, keep, recall } from './session.ts'
import { createStore } from './store.ts'
import { watch } from './watch.ts'

export interface Run {
  /** Null until the service has received the run. */
  readonly id: string | null
  /** Null until the run has ended. */
  readonly record: Result | null
  readonly asked: Asked
  /** The output until the run has ended. */
  readonly live: Live
  /** Why the run did not start, or is no longer followed. */
  readonly failure: RunledgerError | null
  /** When the run was sent, by performance.now(); null when an earlier page sent it. */
  readonly since: number | null
  readonly isStopping: boolean
}

export const run = createStore<Run | null>(null)

/** Nothing was sent yet. */
export const fresh: Run = {
  id: null,
  record: null,
  asked: usuallyAsked,
  live: nothingYet,
  failure: null,
  since: null,
  isStopping: false,
}

let following = new AbortController()

/** True while a run can be stopped. */
export function isUnderWay(one: Run | null): boolean {
  return one !== null && one.failure === null && one.record === null
}

export async function begin(request: SubmissionRequest): Promise<void> {
  const signal = restart()
  const asked = readAsked(request)
  run.set({ ...fresh, asked, since: performance.now() })
  await showFailure(signal, async () => {
    const id = await submit(request, signal)
    keep('last', JSON.stringify({ id, asked }))
    change({ id })
    await follow(id, signal)
  })
}

/** Follows the last run of this tab again. */
export async function resume(): Promise<void> {
  const last = recall('last')
  if (last === null || key.get() === null || run.get() !== null) return
  const signal = restart()
  const { id, asked } = JSON.parse(last) as Pick<Run, 'asked'> & { readonly id: string }
  run.set({ ...fresh, id, asked })
  await showFailure(signal, async () => {
    const record = await read(id, signal)
    if (isFinal(record)) change({ record })
    else await follow(id, signal)
  })
}

async function follow(id: string, signal: AbortSignal): Promise<void> {
  const record = await watch(id, signal, (live) => change({ live }))
  change({ record, live: nothingYet })
}

/** Stops the run. A request that was not yet received is not sent again; a received run is cancelled. */
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
  const { signal } = following
  // `follow` shows the run's end.
  await showFailure(signal, async () => void (await cancel(id, signal)))
}

/** Drops the run, because its key is gone. */
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
  run.set({ ...fresh, ...run.get(), ...part })
}

async function showFailure(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (signal.aborted) return
    if (!(error instanceof RunledgerError)) throw error
    // A refused key is reported by the form that asks for another one.
    if (error.status === 401) run.set(null)
    else change({ failure: error, isStopping: false })
  }
}
