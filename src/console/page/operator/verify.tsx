// The button that verifies the whole ledger, and its progress.
import { RunledgerError } from '#client'
import type { Verified } from '#client'
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { count } from '../format.ts'
import { operator } from './service.ts'

export function Verify(): JSX.Element {
  const [message, setMessage] = useState('')
  const [isWalking, setWalking] = useState(false)
  const walking = useRef<AbortController | null>(null)
  useEffect(() => () => walking.current?.abort(), [])
  const verify = async (): Promise<void> => {
    const aborter = new AbortController()
    walking.current = aborter
    setWalking(true)
    setMessage('')
    try {
      const found = await operator.verify({
        signal: aborter.signal,
        onStep: (soFar, share) =>
          setMessage(`${Math.floor(share * 100)} %: ${describeFound(soFar)}`),
      })
      setMessage(`Whole ledger: ${describeFound(found)}`)
    } catch (error) {
      if (!aborter.signal.aborted) {
        if (!(error instanceof RunledgerError)) throw error
        setMessage(error.message)
      }
    }
    setWalking(false)
  }
  return (
    <div class="row">
      {isWalking ? (
        <button type="button" onClick={() => walking.current?.abort()}>
          Stop verifying
        </button>
      ) : (
        <button type="button" onClick={() => void verify()}>
          Verify now
        </button>
      )}
      <span role="status">{message}</span>
    </div>
  )
}

function describeFound({ events, found, suspects }: Verified): string {
  const what = `${count(events, 'event')}, `
  if (found === 0) return `${what}no findings.`
  return `${what}${count(found, 'finding')}, in ${suspects.slice(0, 3).join(', ')}${suspects.length > 3 ? ' and more' : ''}.`
}
