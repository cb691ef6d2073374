// Shows a program's output as harmless text, and the requested files that it has left, each with a button that saves it
// unchanged.
import type { LeftFile } from '#client'
import type { JSX } from 'preact'
import { formatBytes } from './format.ts'
import { decodeBase64 } from './live.ts'
import { saveFile } from './part.tsx'
import { cut, escapeHidden, showHidden } from './visible.ts'

// More would slow a browser down. The whole output can be saved.
const shownCharacters = 100_000

/** Shows untrusted text: never as markup, and with hidden and direction-changing characters escaped. */
export function Visible({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      {showHidden(text).map((piece) =>
        piece.isEscape ? <span class="escape">{piece.text}</span> : piece.text,
      )}
    </>
  )
}

export function Output({
  title,
  text,
  isTruncated = false,
  name,
}: {
  readonly title: string
  readonly text: string
  /** Null: not known. */
  readonly isTruncated?: boolean | null
  /** The name of the file that the output is saved as. */
  readonly name: string
}): JSX.Element {
  const shown = cut(text, shownCharacters)
  const rest = text.length - shown.length
  return (
    <section class="output">
      <header>
        <h2>{title}</h2>
        <button type="button" class="quiet" onClick={() => saveFile(name, text)}>
          Save
        </button>
      </header>
      <pre tabIndex={0} role="region" aria-label={title} dir="ltr">
        <Visible text={shown} />
      </pre>
      {rest > 0 && (
        <p class="hint">
          {rest.toLocaleString('en')} more characters are not shown; Save has them.
        </p>
      )}
      {isTruncated === true && <p class="hint">The rest of the output was not kept.</p>}
    </section>
  )
}

export function LeftFiles({ files }: { readonly files: readonly LeftFile[] }): JSX.Element {
  return (
    <section class="left-files">
      <h2>Returned files</h2>
      {files.length === 0 ? (
        <p class="hint">The program left none of the files that were asked for.</p>
      ) : (
        <ul>
          {files.map((file) => (
            <LeftFileRow key={file.name} file={file} />
          ))}
        </ul>
      )}
    </section>
  )
}

function LeftFileRow({
  file: { name, size, sha256, content },
}: {
  readonly file: LeftFile
}): JSX.Element {
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
