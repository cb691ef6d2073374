// The actions on a submission: copy its link, stop it, run it again, save its receipt.
import type { Result } from '#client'
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Failure } from './failure.tsx'
import { copyText, saveFile } from './part.tsx'
import { formatRoute } from './route.ts'
import { cancel, isFinal, readReceipt, rerun, signsReceipts } from './service.ts'
import { useWork } from './work.ts'

export function Actions({ record }: { readonly record: Result }): JSX.Element {
  const { id } = record
  const [message, setMessage] = useState<ComponentChildren>(null)
  /** The last work was to stop it. */
  const [isStop, setStop] = useState(false)
  const [hasReceipt, setReceipt] = useState(false)
  const { isWorking, failure, begin } = useWork()
  useEffect(() => void signsReceipts().then(setReceipt), [])
  const isOver = isFinal(record)
  // The view that follows the submission shows its end. Until then it is being stopped.
  const isStopping = isStop && failure === null && !isOver
  const isBusy = isWorking && !isStop

  const attempt = (work: (signal: AbortSignal) => Promise<void>, isStopNow = false): void => {
    setMessage(null)
    setStop(isStopNow)
    begin(work)
  }
  const link = async (): Promise<void> =>
    setMessage((await copyText(location.href)) ? 'Copied.' : 'The link is in the address bar.')
  const stop = (): void => attempt(async (signal) => void (await cancel(id, signal)), true)
  const again = (): void =>
    attempt(async (signal) => {
      const next = await rerun(id, signal)
      location.hash = formatRoute({ view: 'submission', id: next })
    })
  const saveReceipt = (): void =>
    attempt(async (signal) => {
      const name = `receipt-${id}.json`
      const receipt = await readReceipt(id, signal)
      saveFile(name, `${JSON.stringify(receipt)}\n`, 'application/json')
      setMessage(<ReceiptSaved name={name} />)
    })
  return (
    <>
      <div class="row">
        <code class="id">{id}</code>
        <button type="button" class="quiet" onClick={() => void link()}>
          Copy link
        </button>
        {isOver ? (
          <>
            <button type="button" disabled={isBusy} onClick={again}>
              Run again
            </button>
            {hasReceipt && (
              <button type="button" disabled={isBusy} onClick={saveReceipt}>
                Save receipt
              </button>
            )}
          </>
        ) : (
          <button type="button" class="danger" disabled={isStopping} onClick={stop}>
            {isStopping ? 'Stopping…' : 'Stop'}
          </button>
        )}
        <span role="status" class="hint">
          {message}
        </span>
      </div>
      {failure !== null && <Failure of={failure} />}
    </>
  )
}

function ReceiptSaved({ name }: { readonly name: string }): JSX.Element {
  return (
    <>
      Saved. With the service’s{' '}
      <a href="/receipt-key" download="receipt-key.pem">
        public key
      </a>{' '}
      anybody can check it: <code>{command(name)}</code>
    </>
  )
}

function command(name: string): string {
  return `runledger audit receipt ${name} --public-key receipt-key.pem`
}
