// Small components that the views share.
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { nameOutcome } from './format.ts'
import type { Tone } from './format.ts'
import type { Summary } from './service.ts'

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly hint?: string
  /** What is wrong with the value. */
  readonly mistake?: string | undefined
  onInput(value: string): void
}

export function TextField({
  label,
  value,
  hint,
  mistake,
  onInput,
  ...rest
}: FieldProps & {
  readonly inputMode?: 'decimal' | 'text'
  readonly placeholder?: string
}): JSX.Element {
  const id = useId()
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        value={value}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={mistake !== undefined}
        aria-describedby={(mistake ?? hint) === undefined ? undefined : `${id}-hint`}
        onInput={(event) => onInput(event.currentTarget.value)}
        {...rest}
      />
      {(mistake ?? hint) !== undefined && (
        <small id={`${id}-hint`} class={mistake === undefined ? 'hint' : 'mistake'}>
          {mistake ?? hint}
        </small>
      )}
    </p>
  )
}

export function Area({
  label,
  value,
  hint,
  onInput,
  rows = 4,
}: FieldProps & { readonly rows?: number }): JSX.Element {
  const id = useId()
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        value={value}
        autocomplete="off"
        spellcheck={false}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {hint !== undefined && (
        <small id={`${id}-hint`} class="hint">
          {hint}
        </small>
      )}
    </p>
  )
}

export function Choice({
  label,
  value,
  options,
  onInput,
}: {
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [value: string, text: string])[]
  onInput(value: string): void
}): JSX.Element {
  const id = useId()
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onInput(event.currentTarget.value)}>
        {options.map(([name, text]) => (
          <option key={name} value={name} selected={name === value}>
            {text}
          </option>
        ))}
      </select>
    </p>
  )
}

export function Check({
  label,
  checked,
  onInput,
}: {
  readonly label: string
  readonly checked: boolean
  onInput(checked: boolean): void
}): JSX.Element {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        onChange={(event) => onInput(event.currentTarget.checked)}
      />
      {label}
    </label>
  )
}

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

/** A dialog that keeps the focus until it is closed by its button or by Escape. */
export function Dialog({
  title,
  children,
  onClose,
}: {
  readonly title: string
  readonly children: ComponentChildren
  onClose(): void
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </header>
      {children}
    </dialog>
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

/** Saves a text as a file. */
export function saveText(name: string, text: string): void {
  saveFile(name, text, 'text/plain;charset=utf-8')
}

/** Saves a file; bytes are saved unchanged, text as UTF-8. */
export function saveFile(
  name: string,
  content: string | Uint8Array<ArrayBuffer>,
  type = 'application/octet-stream',
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
