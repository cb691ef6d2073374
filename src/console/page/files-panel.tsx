// The panel of files that go with the code, and of files to return.
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { append } from './draft.ts'
import type { DraftFile } from './draft.ts'
import { Field } from './field.tsx'
import { replace } from './options.tsx'
import type { PanelProps } from './options.tsx'

export function FilesPanel({ draft, onChange }: PanelProps): JSX.Element {
  const picker = useRef<HTMLInputElement>(null)
  const change = (index: number, file: DraftFile | null): void =>
    onChange({ files: replace(draft.files, index, file) })
  const open = async (list: FileList | null): Promise<void> => {
    const read = [...(list ?? [])].map(async (file) => ({
      name: file.name,
      content: await file.text(),
    }))
    onChange({ files: append(draft.files, await Promise.all(read)) })
  }
  return (
    <>
      <p class="hint">Placed next to your program when it is compiled and when it runs.</p>
      {draft.files.map((file, index) => (
        <fieldset key={file.id} class="card">
          <legend>File {index + 1}</legend>
          <Field
            label="Name"
            value={file.name}
            onInput={(name) => change(index, { ...file, name })}
          />
          <Field
            label="Content"
            value={file.content}
            rows={6}
            onInput={(content) => change(index, { ...file, content })}
          />
          <button type="button" class="quiet" onClick={() => change(index, null)}>
            Remove file {index + 1}
          </button>
        </fieldset>
      ))}
      <p class="row">
        <button
          type="button"
          onClick={() =>
            onChange({
              files: append(draft.files, [
                { name: `file-${draft.files.length + 1}.txt`, content: '' },
              ]),
            })
          }
        >
          Add a file
        </button>
        <button type="button" onClick={() => picker.current?.click()}>
          Open files…
        </button>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files to open"
          onChange={(event) => void open(event.currentTarget.files)}
        />
      </p>
      {draft.tests.length > 0 ? (
        <p class="hint">Files are returned only by a program without tests.</p>
      ) : (
        <Field
          label="Files to return"
          value={draft.outputFiles}
          rows={3}
          hint="Their names, one per line. They are returned with the result, 1 MiB in all."
          onInput={(outputFiles) => onChange({ outputFiles })}
        />
      )}
    </>
  )
}
