// The actions on a submission: copy its link, stop it, run it again, save its receipt.
import { RunledgerError } from '#client'
import type { Result } from '#client'
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Failure } from './failure.tsx'
import { copyText, saveFile } from './part.tsx'
import { formatRoute } from './route.ts'
import { cancel, isFinal, readReceipt, rerun, signsReceipts } from './service.ts'

type Deed = 'stop' | 'rerun' | 'receipt'

export function Actions({ record }: { readonly record: Result }): JSX.Element {
  const { id } = record
  const [message, setMessage] = useState<ComponentChildren>(null)
  const [failure, setFailure] = useState<RunledgerError | null>(null)
  const [doing, setDoing] = useState<Deed | null>(null)
  const leaving = useRef(new AbortController())
  const [hasReceipt, setReceipt] = useState(false)
  useEffect(() => {
    void signsReceipts().then(setReceipt)
    return () => leaving.current.abort()
  }, [])
  const { signal } = leaving.current
  const isOver = isFinal(record)
  // The view that follows the submission shows its end. Until then it is being stopped.
  const isBusy = doing !== null && !(doing === 'stop' && isOver)

  const attempt = async (deed: Deed, work: () => Promise<void>): Promise<void> => {
    setMessage(null)
    setFailure(null)
    setDoing(deed)
    try {
      await work()
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof RunledgerError)) throw error
      setFailure(error)
      setDoing(null)
    }
  }
  const link = async (): Promise<void> =>
    setMessage((await copyText(location.href)) ? 'Copied.' : 'The link is in the address bar.')
  const stop = (): Promise<void> => attempt('stop', async () => void (await cancel(id, signal)))
  const again = (): Promise<void> =>
    attempt('rerun', async () => {
      const next = await rerun(id, signal)
      location.hash = formatRoute({ view: 'submission', id: next })
    })
  const saveReceipt = (): Promise<void> =>
    attempt('receipt', async () => {
      const name = `receipt-${id}.json`
      const receipt = await readReceipt(id, signal)
      saveFile(name, `${JSON.stringify(receipt)}\n`, 'application/json')
      setDoing(null)
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
            <button type="button" disabled={isBusy} onClick={() => void again()}>
              Run again
            </button>
            {hasReceipt && (
              <button type="button" disabled={isBusy} onClick={() => void saveReceipt()}>
                Save receipt
              </button>
            )}
          </>
        ) : (
          <button type="button" class="danger" disabled={isBusy} onClick={() => void stop()}>
            {doing === 'stop' ? 'Stopping…' : 'Stop'}
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
