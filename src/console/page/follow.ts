// A hook that loads a view's data from the service, and loads it again whenever an input changes.
import { useEffect, useState } from 'preact/hooks'
import { RunledgerError } from '#client'

export interface Followed<T> {
  readonly value: T | null
  readonly failure: RunledgerError | null
}

/** @param work is aborted when the view is removed or its inputs change. The view shows the last update. */
export function useFollowed<T>(
  work: (signal: AbortSignal, update: (value: T) => void) => Promise<void>,
  inputs: readonly unknown[],
): Followed<T> {
  const [state, setState] = useState<Followed<T>>({ value: null, failure: null })
  useEffect(() => {
    const aborter = new AbortController()
    const { signal } = aborter
    const update = (value: T): void => {
      if (!signal.aborted) setState({ value, failure: null })
    }
    work(signal, update).catch((error: unknown) => {
      if (signal.aborted) return
      if (!(error instanceof RunledgerError)) throw error
      setState((before) => ({ ...before, failure: error }))
    })
    return () => aborter.abort()
  }, inputs)
  return state
}
