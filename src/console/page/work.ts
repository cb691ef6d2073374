// Hooks for a view's work: work that a button begins, with its progress and its failure, and data from the service that are
// loaded again whenever an input changes.
import { useEffect, useRef, useState } from 'preact/hooks'
import { RunledgerError } from '#client'

export interface Work {
  readonly isWorking: boolean
  /** Why the last work failed; null once other work begins. */
  readonly failure: RunledgerError | null
  begin(work: (signal: AbortSignal) => Promise<void>): void
  /** Aborts the work, as the view's removal does. */
  stop(): void
}

export function useWork(): Work {
  const [isWorking, setWorking] = useState(false)
  const [failure, setFailure] = useState<RunledgerError | null>(null)
  const working = useRef<AbortController | null>(null)
  const stop = (): void => working.current?.abort()
  useEffect(() => stop, [])
  const run = async (work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    const { signal } = (working.current = new AbortController())
    setWorking(true)
    setFailure(null)
    try {
      await work(signal)
    } catch (error) {
      if (!signal.aborted) {
        if (!(error instanceof RunledgerError)) throw error
        setFailure(error)
      }
    } finally {
      setWorking(false)
    }
  }
  return { isWorking, failure, begin: (work) => void run(work), stop }
}

interface Followed<T> {
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
