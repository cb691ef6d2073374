// Write, run, see: the code and what goes with it on one side, what became of it on the other.
import type { RunledgerError } from '#client'
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { CopyAs } from './copy-as.tsx'
import { emptyDraft, readDraft, toRequest } from './draft.ts'
import type { Draft } from './draft.ts'
import { Editor } from './editor.tsx'
import { explain, formatSeconds, nameOutcome } from './format.ts'
import { languages } from './languages.ts'
import { FilesPanel, InputPanel, OptionsPanel, TestsPanel } from './options.tsx'
import { Tabs, saveText } from './part.tsx'
import { ResultView } from './result.tsx'
import { formatRoute } from './route.ts'
import { begin, isUnderWay, resume, run as runStore, stop } from './run.ts'
import type { Run } from './run.ts'
import type { OfferedLanguage, RunLimits } from './service.ts'
import { isFinal } from './service.ts'
import { keep, key as keyStore, recall } from './session.ts'
import { useStore } from './store.ts'

type Panel = 'code' | 'files' | 'input' | 'tests' | 'options'

export function Playground(): JSX.Element {
  const offered = useStore(languages)
  const run = useStore(runStore)
  const hasKey = useStore(keyStore) !== null
  const [draft, setDraft] = useDraft(offered)
  const [panel, setPanel] = useState<Panel>('code')
  const [isCopying, setCopying] = useState(false)
  const language = offered?.find(({ name }) => name === draft.language)
  const change = (part: Partial<Draft>): void => setDraft((before) => ({ ...before, ...part }))
  const underWay = isUnderWay(run)
  const start = (): void => {
    if (hasKey && !isUnderWay(runStore.get())) void begin(toRequest(draft))
  }
  useEffect(() => void resume(), [hasKey])
  useShortcut(start)

  const number = (text: string, figure: number): string => (figure > 0 ? `${text} ${figure}` : text)
  const names = [
    ['code', 'Code'],
    ['input', draft.stdin !== '' || draft.expected !== null ? 'Input •' : 'Input'],
    ['tests', number('Tests', draft.tests.length)],
    ['files', number('Files', draft.files.length)],
    ['options', 'Options'],
  ] as const
  return (
    <div class="playground">
      <h1 class="unseen">Playground</h1>
      <section class="source" aria-label="Program">
        <Toolbar
          draft={draft}
          offered={offered}
          onChange={change}
          onCopy={() => setCopying(true)}
        />
        <Tabs
          label="Parts of the program"
          names={names}
          chosen={panel}
          onChoose={(name) => setPanel(name)}
        >
          {/* Kept while another panel shows, with its history and cursor. */}
          <div class="code" hidden={panel !== 'code'}>
            <Editor
              value={draft.code}
              language={draft.language}
              label="Code"
              onChange={(code) => change({ code })}
              onRun={start}
            />
          </div>
          {panel !== 'code' && (
            <div class="fields">
              {panel === 'files' && <FilesPanel draft={draft} onChange={change} />}
              {panel === 'input' && <InputPanel draft={draft} onChange={change} />}
              {panel === 'tests' && <TestsPanel draft={draft} onChange={change} />}
              {panel === 'options' && (
                <OptionsPanel draft={draft} onChange={change} language={language} />
              )}
            </div>
          )}
        </Tabs>
        <p class="actions">
          {underWay ? (
            <button
              type="button"
              class="danger"
              disabled={run?.isStopping === true}
              onClick={() => void stop()}
            >
              {run?.isStopping === true ? 'Stopping…' : 'Stop'}
            </button>
          ) : (
            <button
              type="button"
              class="primary"
              disabled={!hasKey}
              aria-keyshortcuts="Control+Enter"
              onClick={start}
            >
              Run
            </button>
          )}
          <small class="hint">
            <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs it. <kbd>Esc</kbd>, then <kbd>Tab</kbd> leaves the
            editor.
          </small>
        </p>
      </section>
      <Outcome run={run} limits={limitsOf(draft, language)} />
      {isCopying && <CopyAs request={toRequest(draft)} onClose={() => setCopying(false)} />}
    </div>
  )
}

/** The draft of this tab; a first one is an example. */
function useDraft(
  offered: readonly OfferedLanguage[] | null,
): [Draft, (change: (before: Draft) => Draft) => void] {
  const [draft, setDraft] = useState(() => readDraft(recall('draft')) ?? emptyDraft)
  useEffect(() => keep('draft', JSON.stringify(draft)), [draft])
  useEffect(() => {
    if (offered === null || offered.length === 0) return
    setDraft((before) => {
      const found = offered.find(({ name }) => name === before.language)
      if (before.code !== '') return before
      const first = found ?? offered[0]
      return { ...before, language: first?.name ?? before.language, code: first?.example ?? '' }
    })
  }, [offered])
  return [draft, setDraft]
}

/** Ctrl or Cmd and Enter, wherever the focus is. */
function useShortcut(start: () => void): void {
  const newest = useRef(start)
  newest.current = start
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented)
        return
      event.preventDefault()
      newest.current()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

function limitsOf(draft: Draft, language: OfferedLanguage | undefined): RunLimits | null {
  const usual = language?.limits?.run
  if (usual === undefined) return null
  const own = toRequest(draft).limits ?? {}
  return {
    cpu_seconds: own.cpu_time ?? usual.cpu_seconds,
    wall_seconds: own.wall_time ?? usual.wall_seconds,
    memory_bytes: own.memory ?? usual.memory_bytes,
  }
}

function Toolbar({
  draft,
  offered,
  onChange,
  onCopy,
}: {
  readonly draft: Draft
  readonly offered: readonly OfferedLanguage[] | null
  onChange(part: Partial<Draft>): void
  onCopy(): void
}): JSX.Element {
  const picker = useRef<HTMLInputElement>(null)
  const language = offered?.find(({ name }) => name === draft.language)
  const extension = language?.extensions[0] ?? '.txt'
  const choose = (name: string): void => {
    const example = offered?.find((one) => one.name === name)?.example ?? ''
    // An example gives way to another; what somebody wrote stays.
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
  const options = offered?.map(({ name, title, runtime }) => [name, title, runtime] as const) ?? []
  const isKnown = options.some(([name]) => name === draft.language)
  return (
    <div class="toolbar">
      <label class="unseen" for="language">
        Language
      </label>
      <select
        id="language"
        value={draft.language}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {!isKnown && (
          <option value={draft.language}>
            {offered === null ? draft.language : `${draft.language} (not offered)`}
          </option>
        )}
        {options.map(([name, title]) => (
          <option key={name} value={name} selected={name === draft.language}>
            {title}
          </option>
        ))}
      </select>
      <span class="runtime">{language?.runtime ?? ''}</span>
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
          onClick={() => saveText(`main${extension}`, draft.code)}
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

function Outcome({
  run,
  limits,
}: {
  readonly run: Run | null
  readonly limits: RunLimits | null
}): JSX.Element {
  const { id = null, record = null, failure = null } = run ?? {}
  const underWay = isUnderWay(run)
  return (
    <section class="outcome" aria-label="Result" aria-busy={underWay}>
      {/* What a screen reader says of a run, once. */}
      <p class="unseen" role="status">
        {record !== null && isFinal(record)
          ? `${nameOutcome(record).word}. ${explain(record)}`
          : underWay
            ? 'Running'
            : ''}
      </p>
      {run === null && <p class="empty">What the program does is shown here.</p>}
      {failure !== null && <Failure of={failure} />}
      {underWay && <Elapsed since={run?.since ?? null} record={record} />}
      {record !== null && isFinal(record) && <ResultView result={record} limits={limits} />}
      {id !== null && (
        <p class="more">
          <a href={formatRoute({ view: 'submission', id })}>Submission {id}</a>
        </p>
      )}
    </section>
  )
}

function Elapsed({
  since,
  record,
}: {
  readonly since: number | null
  readonly record: Run['record']
}): JSX.Element {
  const [, redraw] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => redraw((turn) => turn + 1), 200)
    return () => clearInterval(timer)
  }, [])
  const seconds = since === null ? null : Math.floor((performance.now() - since) / 200) / 5
  const word = record?.status === 'queued' ? 'Queued' : 'Running'
  return (
    <p class="verdict">
      <span class="badge none busy">{word}</span>{' '}
      <span>{seconds === null ? '' : formatSeconds(seconds)}</span>
    </p>
  )
}

/** Everything that is wrong with a request, at once. */
export function Failure({ of }: { readonly of: RunledgerError }): JSX.Element {
  return (
    <div class="failure" role="alert">
      {of.issues.length === 0 ? (
        <p>{of.message}</p>
      ) : (
        <ul>
          {of.issues.map(({ path, message }) => (
            <li key={path}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
