// The requested files that a program has left, each with a button that saves it unchanged.
import type { LeftFile } from '#client'
import type { JSX } from 'preact'
import { formatBytes } from './format.ts'
import { decodeBase64 } from './live.ts'
import { Visible } from './output.tsx'
import { saveFile } from './part.tsx'
import { escapeHidden } from './visible.ts'

export function LeftFiles({ files }: { readonly files: readonly LeftFile[] }): JSX.Element {
  return (
    <section class="left-files">
      <h2>Returned files</h2>
      {files.length === 0 ? (
        <p class="hint">The program left none of the files that were asked for.</p>
      ) : (
        <ul>
          {files.map((file) => (
            <Row key={file.name} file={file} />
          ))}
        </ul>
      )}
    </section>
  )
}

function Row({ file: { name, size, sha256, content } }: { readonly file: LeftFile }): JSX.Element {
  return (
    <li class="row">
      <code>
        <Visible text={name} />
      </code>
      <span>{formatBytes(size)}</span>
      {sha256 !== null && (
        <code class="hash" title={`SHA-256 ${sha256}`}>
          {sha256.slice(0, 12)}
        </code>
      )}
      {content === null ? (
        <span class="hint">Not returned: more than 1 MiB in all.</span>
      ) : (
        <button
          type="button"
          class="quiet"
          aria-label={`Save ${escapeHidden(name)}`}
          onClick={() => saveFile(name.split('/').at(-1) ?? name, decodeBase64(content))}
        >
          Save
        </button>
      )}
    </li>
  )
}
