// A dialog that shows the playground's request as code to copy.
import type { SubmissionRequest } from '#client'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Dialog, Tabs, copyText } from './part.tsx'
import { snippetKinds, writeSnippet } from './snippet.ts'
import type { SnippetKind } from './snippet.ts'

export function CopyAs({
  request,
  onClose,
}: {
  readonly request: SubmissionRequest
  onClose(): void
}): JSX.Element {
  const [kind, setKind] = useState<SnippetKind>('curl')
  const [message, setMessage] = useState('')
  const text = writeSnippet(kind, request, location.origin)
  const copy = async (): Promise<void> =>
    setMessage((await copyText(text)) ? 'Copied.' : 'The browser refused to copy: select the text.')
  return (
    <Dialog title="Copy as" onClose={onClose}>
      <Tabs
        label="Language of the copy"
        names={snippetKinds.map((name) => [name, name] as const)}
        chosen={kind}
        onChoose={(name) => {
          setKind(name)
          setMessage('')
        }}
      >
        <pre class="snippet" tabIndex={0} role="region" aria-label={`Request in ${kind}`}>
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
    </Dialog>
  )
}
