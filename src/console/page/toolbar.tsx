// The toolbar above the code: its language, and buttons to load, save and copy it.
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { languages } from './languages.ts'
import type { PanelProps } from './options.tsx'
import { saveFile } from './part.tsx'
import { useStore } from './store.ts'

export function Toolbar({ draft, onChange, onCopy }: PanelProps & { onCopy(): void }): JSX.Element {
  const offered = useStore(languages)
  const picker = useRef<HTMLInputElement>(null)
  const language = offered?.find(({ name }) => name === draft.language)
  const extension = language?.extensions[0] ?? '.txt'
  const choose = (name: string): void => {
    const example = offered?.find((one) => one.name === name)?.example ?? ''
    // Another example replaces an example, but nothing replaces the user's own code.
    const isOwn = draft.code !== '' && offered?.every((one) => one.example !== draft.code)
    onChange({ language: name, ...(isOwn !== true && { code: example }) })
  }
  const open = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    const found = offered?.find(({ extensions }) =>
      extensions.some((one) => file.name.endsWith(one)),
    )
    const keeps = language?.extensions.some((one) => file.name.endsWith(one)) === true
    const code = await file.text()
    onChange({ code, ...(found !== undefined && !keeps && { language: found.name }) })
  }
  return (
    <div class="toolbar row">
      <label class="unseen" for="language">
        Language
      </label>
      <select
        id="language"
        value={draft.language}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {language === undefined && (
          <option value={draft.language}>
            {offered === null ? draft.language : `${draft.language} (not offered)`}
          </option>
        )}
        {offered?.map(({ name, title }) => (
          <option key={name} value={name} selected={name === draft.language}>
            {title}
          </option>
        ))}
      </select>
      <span class="runtime hint">{language?.runtime ?? ''}</span>
      <span class="buttons">
        <button
          type="button"
          class="quiet"
          disabled={(language?.example ?? null) === null}
          onClick={() => onChange({ code: language?.example ?? '' })}
        >
          Example
        </button>
        <button type="button" class="quiet" onClick={() => picker.current?.click()}>
          Open…
        </button>
        <input
          ref={picker}
          type="file"
          hidden
          aria-label="Program to open"
          onChange={(event) => {
            void open(event.currentTarget.files?.[0])
            event.currentTarget.value = ''
          }}
        />
        <button
          type="button"
          class="quiet"
          onClick={() => saveFile(`main${extension}`, draft.code)}
        >
          Save
        </button>
        <button type="button" class="quiet" onClick={onCopy}>
          Copy as…
        </button>
      </span>
    </div>
  )
}
