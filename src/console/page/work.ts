// A hook for work that a button begins: its progress and its failure.
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
