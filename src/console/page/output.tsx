// Shows a program's output as harmless text.
import type { JSX } from 'preact'
import { saveFile } from './part.tsx'
import { cut, showHidden } from './visible.ts'

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
