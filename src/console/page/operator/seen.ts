// A hook that follows a value while the page is visible. A hidden page sends no requests and keeps the last value.
import { useEffect, useState } from 'preact/hooks'
import type { RunledgerError } from '#client'
import { whileVisible } from '../screen.ts'

export interface Seen<T> {
  readonly value: T | null
  readonly failure: RunledgerError | null
}

/** Reports updates and failures until the signal fires. */
export type Follower<T> = (
  signal: AbortSignal,
  update: (value: T) => void,
  fail: (failure: RunledgerError) => void,
) => Promise<never>

/** @param follow must be the same function on every call. */
export function useSeen<T>(follow: Follower<T>): Seen<T> {
  const [seen, setSeen] = useState<Seen<T>>({ value: null, failure: null })
  useEffect(() => {
    const aborter = new AbortController()
    const { signal } = aborter
    const update = (value: T): void => setSeen({ value, failure: null })
    const fail = (failure: RunledgerError): void => setSeen(({ value }) => ({ value, failure }))
    whileVisible(signal, (shown) => follow(shown, update, fail)).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
    return () => aborter.abort()
  }, [follow])
  return seen
}
