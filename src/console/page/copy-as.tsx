// A dialog that shows the playground's request as code to copy. It keeps the focus until it is closed by its button or by
// Escape.
import type { SubmissionRequest } from '#client'
import type { JSX } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Tabs, copyText } from './part.tsx'
import { snippetKinds, writeSnippet } from './snippet.ts'
import type { SnippetKind } from './snippet.ts'

export function CopyAs({
  request,
  onClose,
}: {
  readonly request: SubmissionRequest
  onClose(): void
}): JSX.Element {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const [kind, setKind] = useState<SnippetKind>('curl')
  const [message, setMessage] = useState('')
  const text = writeSnippet(kind, request, location.origin)
  const copy = async (): Promise<void> =>
    setMessage((await copyText(text)) ? 'Copied.' : 'The browser refused to copy: select the text.')
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>Copy as</h2>
        <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </header>
      <Tabs
        label="Language of the copy"
        names={snippetKinds.map((name) => [name, name] as const)}
        chosen={kind}
        onChoose={(name) => {
          setKind(name)
          setMessage('')
        }}
      >
        <pre tabIndex={0} role="region" aria-label={`Request in ${kind}`}>
          {text}
        </pre>
      </Tabs>
      <p class="row">
        <button type="button" class="primary" onClick={() => void copy()}>
          Copy
        </button>
        <span role="status">{message}</span>
      </p>
      <p class="hint">It takes the key from RUNLEDGER_API_KEY in the environment.</p>
    </dialog>
  )
}
