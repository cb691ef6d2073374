// The fields of forms: a text, a choice, a check box.
import type { JSX, TargetedInputEvent } from 'preact'
import { useId } from 'preact/hooks'

type FieldProps = {
  readonly label: string
  readonly value: string
  readonly hint?: string
  /** What is wrong with the value. */
  readonly mistake?: string | undefined
  readonly inputMode?: 'decimal'
  readonly placeholder?: string
  /** Makes the field a box of so many lines. */
  readonly rows?: number
  onInput(value: string): void
} & ({ readonly type?: 'text' } | { readonly type: 'password' } | { readonly type: 'date' })

export function Field({
  label,
  value,
  hint,
  mistake,
  rows,
  onInput,
  ...rest
}: FieldProps): JSX.Element {
  const id = useId()
  const note = mistake ?? hint
  const given = {
    id,
    value,
    autocomplete: 'off',
    spellcheck: false,
    'aria-invalid': mistake !== undefined,
    'aria-describedby': note === undefined ? undefined : `${id}-hint`,
    ...rest,
  } as const
  const input = (event: TargetedInputEvent<HTMLInputElement | HTMLTextAreaElement>): void =>
    onInput(event.currentTarget.value)
  return (
    <p class="field">
      <label for={id}>{label}</label>
      {rows === undefined ? (
        <input {...given} onInput={input} />
      ) : (
        <textarea {...given} rows={rows} onInput={input} />
      )}
      {note !== undefined && (
        <small id={`${id}-hint`} class={mistake === undefined ? 'hint' : 'mistake'}>
          {note}
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
