// Small components that the views share.
import type { ComponentChildren, JSX } from 'preact'
import { useId, useRef } from 'preact/hooks'
import { nameOutcome } from './format.ts'
import type { Tone } from './format.ts'
import type { Summary } from './service.ts'

/** Shows the outcome as a coloured word. */
export function Badge({
  of,
  isJudged = true,
}: {
  readonly of: Pick<Summary, 'status' | 'verdict'>
  readonly isJudged?: boolean
}): JSX.Element {
  const { word, tone } = nameOutcome(of, isJudged)
  return <Mark tone={tone} word={word} isBusy={of.status === 'running'} />
}

export function Mark({
  tone,
  word,
  isBusy = false,
}: {
  readonly tone: Tone
  readonly word: string
  readonly isBusy?: boolean
}): JSX.Element {
  return <span class={`badge ${tone}${isBusy ? ' busy' : ''}`}>{word}</span>
}

/** A figure or a word with its name, in a list of such. */
export function Fact({
  name,
  children,
}: {
  readonly name: string
  readonly children: ComponentChildren
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** Shows one panel at a time. Arrow keys, Home and End move between the tabs. */
export function Tabs<Name extends string>({
  label,
  names,
  chosen,
  onChoose,
  children,
}: {
  readonly label: string
  readonly names: readonly (readonly [name: Name, text: string])[]
  readonly chosen: Name
  readonly children: ComponentChildren
  onChoose(name: Name): void
}): JSX.Element {
  const id = useId()
  const bar = useRef<HTMLDivElement>(null)
  const go = (event: KeyboardEvent): void => {
    const at = names.findIndex(([name]) => name === chosen)
    const targets: Readonly<Record<string, number>> = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      Home: 0,
      End: -1,
    }
    const target = targets[event.key]
    if (target === undefined) return
    event.preventDefault()
    const next = (target + names.length) % names.length
    const [name] = names[next] ?? []
    if (name !== undefined) onChoose(name)
    bar.current?.querySelectorAll('button')[next]?.focus()
  }
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} ref={bar} onKeyDown={go}>
        {names.map(([name, text]) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => onChoose(name)}
          >
            {text}
          </button>
        ))}
      </div>
      <div class="panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </>
  )
}

/** Saves a file; bytes are saved unchanged, text as UTF-8. */
export function saveFile(
  name: string,
  content: string | Uint8Array<ArrayBuffer>,
  type = typeof content === 'string' ? 'text/plain;charset=utf-8' : 'application/octet-stream',
): void {
  const url = URL.createObjectURL(new Blob([content], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 1000)
}

/** Copies a text. False when the browser does not permit it. */
export async function copyText(text: string): Promise<boolean> {
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  )
}
