// The button that verifies the whole ledger, and its progress.
import type { Verified } from '#client'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { count } from '../format.ts'
import { useWork } from '../work.ts'
import { operator } from './service.ts'

export function Verify(): JSX.Element {
  const [message, setMessage] = useState('')
  const { isWorking, failure, begin, stop } = useWork()
  const verify = (): void =>
    begin(async (signal) => {
      setMessage('')
      const found = await operator.verify({
        signal,
        onStep: (soFar, share) =>
          setMessage(`${Math.floor(share * 100)} %: ${describeFound(soFar)}`),
      })
      setMessage(`Whole ledger: ${describeFound(found)}`)
    })
  return (
    <div class="row">
      <button type="button" onClick={isWorking ? stop : verify}>
        {isWorking ? 'Stop verifying' : 'Verify now'}
      </button>
      <span role="status">{failure?.message ?? message}</span>
    </div>
  )
}

function describeFound({ events, found, suspects }: Verified): string {
  const what = `${count(events, 'event')}, `
  if (found === 0) return `${what}no findings.`
  return `${what}${count(found, 'finding')}, in ${suspects.slice(0, 3).join(', ')}${suspects.length > 3 ? ' and more' : ''}.`
}
