// The panels beside the code: input, tests, and how the program is started and judged.
import type { JSX } from 'preact'
import { append, checkerNames } from './draft.ts'
import type { CheckerType, Draft, DraftTest } from './draft.ts'
import { Check, Choice, Field } from './field.tsx'
import { useLanguage } from './languages.ts'
import { limitFields } from './limit-field.ts'
import type { LimitField, Mistakes } from './limit-field.ts'

export interface PanelProps {
  readonly draft: Draft
  onChange(part: Partial<Draft>): void
}

/** Returns the list with one item replaced, or without it when `item` is null. */
export function replace<T>(list: readonly T[], index: number, item: T | null): readonly T[] {
  return list.flatMap((one, at) => (at !== index ? [one] : item === null ? [] : [item]))
}

/** A check box, and the expected output when it is checked. */
function Expected({
  value,
  onInput,
}: {
  readonly value: string | null
  onInput(value: string | null): void
}): JSX.Element {
  return (
    <>
      <Check
        label="Judge the output"
        checked={value !== null}
        onInput={(checked) => onInput(checked ? '' : null)}
      />
      {value !== null && <Field label="Expected output" value={value} rows={4} onInput={onInput} />}
    </>
  )
}

/** The field for the program's input, below the code. */
export function Input({ draft, onChange }: PanelProps): JSX.Element {
  if (draft.tests.length > 0) {
    return <p class="input hint">Each test has an input of its own: see Tests.</p>
  }
  return (
    <div class="input">
      <Field label="Input" value={draft.stdin} rows={3} onInput={(stdin) => onChange({ stdin })} />
    </div>
  )
}

export function ExpectedPanel({ draft, onChange }: PanelProps): JSX.Element {
  if (draft.tests.length > 0) {
    return <p class="hint">Each test has an expected output of its own: see Tests.</p>
  }
  return (
    <>
      <Expected value={draft.expected} onInput={(expected) => onChange({ expected })} />
      {draft.expected !== null && <CheckerFields draft={draft} onChange={onChange} />}
    </>
  )
}

function CheckerFields({ draft, onChange }: PanelProps): JSX.Element {
  return (
    <>
      <Choice
        label="Compare"
        value={draft.checker}
        options={Object.entries(checkerNames)}
        onInput={(checker) => onChange({ checker: checker as CheckerType })}
      />
      {draft.checker === 'floats' && (
        <Field
          label="Tolerance"
          value={draft.tolerance}
          inputMode="decimal"
          hint="Absolute, or as a part of the number."
          onInput={(tolerance) => onChange({ tolerance })}
        />
      )}
    </>
  )
}

export function TestsPanel({ draft, onChange }: PanelProps): JSX.Element {
  const change = (index: number, test: DraftTest | null): void =>
    onChange({ tests: replace(draft.tests, index, test) })
  return (
    <>
      <p class="hint">The program is compiled once and run once for each test.</p>
      {draft.tests.map((test, index) => (
        <fieldset key={test.id} class="card">
          <legend>Test {index + 1}</legend>
          <Field
            label="Name"
            value={test.name}
            placeholder={String(index + 1)}
            onInput={(name) => change(index, { ...test, name })}
          />
          <Field
            label="Input"
            value={test.stdin}
            rows={3}
            onInput={(stdin) => change(index, { ...test, stdin })}
          />
          <Expected
            value={test.expected}
            onInput={(expected) => change(index, { ...test, expected })}
          />
          <button type="button" class="quiet" onClick={() => change(index, null)}>
            Remove test {index + 1}
          </button>
        </fieldset>
      ))}
      <p class="row">
        <button
          type="button"
          onClick={() =>
            onChange({ tests: append(draft.tests, [{ name: '', stdin: '', expected: '' }]) })
          }
        >
          Add a test
        </button>
      </p>
      {draft.tests.length > 0 && (
        <>
          <CheckerFields draft={draft} onChange={onChange} />
          <Check
            label="Stop at the first test that fails"
            checked={draft.stopOnFailure}
            onInput={(stopOnFailure) => onChange({ stopOnFailure })}
          />
        </>
      )}
    </>
  )
}

export function OptionsPanel({
  draft,
  onChange,
  mistakes,
}: PanelProps & { readonly mistakes: Mistakes }): JSX.Element {
  const language = useLanguage(draft.language)
  const usual = language?.limits?.run
  const presets = {
    cpuTime: usual?.cpu_time,
    wallTime: usual?.wall_time,
    memory: usual?.memory,
  }
  return (
    <>
      <Field
        label="Arguments"
        value={draft.args}
        rows={3}
        hint="One per line."
        onInput={(args) => onChange({ args })}
      />
      {language?.compile !== null && (
        <Field
          label="Arguments of the compiler"
          value={draft.compileArgs}
          rows={2}
          hint="One per line."
          onInput={(compileArgs) => onChange({ compileArgs })}
        />
      )}
      <fieldset class="card columns">
        <legend>Limits</legend>
        {(Object.keys(limitFields) as LimitField[]).map((name) => {
          const { label, format } = limitFields[name]
          const preset = presets[name]
          return (
            <Field
              key={name}
              label={label}
              value={draft[name]}
              inputMode="decimal"
              mistake={mistakes[name]}
              {...(preset !== undefined && { placeholder: format(preset) })}
              onInput={(text) => onChange({ [name]: text })}
            />
          )
        })}
      </fieldset>
      <Check
        label="Low priority: runs after all other submissions"
        checked={draft.lowPriority}
        onInput={(lowPriority) => onChange({ lowPriority })}
      />
      <Field
        label="Tag"
        value={draft.tag}
        hint="A label of your own, to find it in the list."
        onInput={(tag) => onChange({ tag })}
      />
    </>
  )
}
