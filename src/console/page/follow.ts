// A hook that gives a view its data from the service, and loads them again whenever an input changes.
import { useEffect, useState } from 'preact/hooks'
import { RunledgerError } from '#client'

export interface Followed<T> {
  readonly value: T | null
  readonly failure: RunledgerError | null
}

/** Reports updates, and failures that do not end it. */
export type Follower<T> = (
  signal: AbortSignal,
  update: (value: T) => void,
  fail: (failure: RunledgerError) => void,
) => Promise<void>

/** @param work is aborted when the view is removed or its inputs change. The view shows the last update. */
export function useFollowed<T>(work: Follower<T>, inputs: readonly unknown[]): Followed<T> {
  const [state, setState] = useState<Followed<T>>({ value: null, failure: null })
  useEffect(() => {
    const aborter = new AbortController()
    const { signal } = aborter
    const update = (value: T): void => {
      if (!signal.aborted) setState({ value, failure: null })
    }
    const fail = (failure: RunledgerError): void => setState(({ value }) => ({ value, failure }))
    work(signal, update, fail).catch((error: unknown) => {
      if (signal.aborted) return
      if (!(error instanceof RunledgerError)) throw error
      fail(error)
    })
    return () => aborter.abort()
  }, inputs)
  return state
}
