// A link that looks up a name.
import type { JSX } from 'preact'
import { Visible } from '../output.tsx'
import { formatRoute } from '../route.ts'

/** @param text a submission's id, an account's name, or a key's label. */
export function Sought({
  text,
  shown = text,
}: {
  readonly text: string
  readonly shown?: string
}): JSX.Element {
  return (
    <a href={formatRoute({ view: 'service', q: text })}>
      <Visible text={shown} />
    </a>
  )
}
