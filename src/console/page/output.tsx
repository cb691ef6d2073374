// What a program wrote, as text that nobody obeys.
import type { JSX } from 'preact'
import { saveText } from './part.tsx'
import { cut, showHidden } from './visible.ts'

// More would make a browser slow; all of it can be saved.
const shownCharacters = 100_000

/** Text of others: never markup, and nothing in it is obeyed. */
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
  isTruncated,
  name,
}: {
  readonly title: string
  readonly text: string
  readonly isTruncated: boolean
  /** Of the file that it is saved as. */
  readonly name: string
}): JSX.Element {
  const shown = cut(text, shownCharacters)
  const rest = text.length - shown.length
  return (
    <section class="output">
      <header>
        <h2>{title}</h2>
        <button type="button" class="quiet" onClick={() => saveText(name, text)}>
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
      {isTruncated && <p class="hint">The rest of the output was not kept.</p>}
    </section>
  )
}
