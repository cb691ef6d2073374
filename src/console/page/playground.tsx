// The playground: the code and its options on one side, the result on the other.
import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { CopyAs } from './copy-as.tsx'
import { emptyDraft, readDraft, toRequest } from './draft.ts'
import type { Draft } from './draft.ts'
import { Editor } from './editor.tsx'
import { FilesPanel } from './files-panel.tsx'
import { languages } from './languages.ts'
import { findMistakes, showIssues } from './limit-field.ts'
import { ExpectedPanel, Input, OptionsPanel, TestsPanel } from './options.tsx'
import { Outcome } from './outcome.tsx'
import { Tabs } from './part.tsx'
import { begin, isUnderWay, resume, run as runStore, stop } from './run.ts'
import { keep, key as keyStore, recall } from './session.ts'
import { useStore } from './store.ts'
import { Toolbar } from './toolbar.tsx'

type Panel = 'code' | 'files' | 'expected' | 'tests' | 'options'

export function Playground(): JSX.Element {
  const run = useStore(runStore)
  const hasKey = useStore(keyStore) !== null
  const [draft, isKept, setDraft] = useDraft()
  const [panel, setPanel] = useState<Panel>('code')
  const [isCopying, setCopying] = useState(false)
  const change = (part: Partial<Draft>): void => setDraft((before) => ({ ...before, ...part }))
  const underWay = isUnderWay(run)
  // Mistakes in the request that was sent last.
  const refused = showIssues(run?.failure?.issues ?? [])
  const mistakes = { ...refused, ...findMistakes(draft) }
  const isRefused = Object.keys(refused).length > 0
  const start = (): void => {
    if (!hasKey || isUnderWay(runStore.get())) return
    if (Object.keys(findMistakes(draft)).length > 0) setPanel('options')
    else void begin(toRequest(draft))
  }
  useEffect(() => {
    if (isRefused) setPanel('options')
  }, [isRefused])
  useEffect(() => void resume(), [hasKey])
  useShortcut(start)

  const number = (text: string, figure: number): string => (figure > 0 ? `${text} ${figure}` : text)
  const names = [
    ['code', 'Code'],
    ['expected', draft.expected !== null ? 'Expected •' : 'Expected'],
    ['tests', number('Tests', draft.tests.length)],
    ['files', number('Files', draft.files.length)],
    ['options', 'Options'],
  ] as const
  return (
    <div class="playground">
      <h1 class="unseen">Playground</h1>
      <section class="source" aria-label="Program">
        <Toolbar draft={draft} onChange={change} onCopy={() => setCopying(true)} />
        <Tabs
          label="Parts of the program"
          names={names}
          chosen={panel}
          onChoose={(name) => setPanel(name)}
        >
          {/* The editor stays mounted while another panel is shown, and so keeps its history and cursor. */}
          <div class="code" hidden={panel !== 'code'}>
            <Editor
              value={draft.code}
              language={draft.language}
              label="Code"
              onChange={(code) => change({ code })}
              onRun={start}
            />
            <Input draft={draft} onChange={change} />
          </div>
          {panel !== 'code' && (
            <div class="fields">
              {panel === 'files' && <FilesPanel draft={draft} onChange={change} />}
              {panel === 'expected' && <ExpectedPanel draft={draft} onChange={change} />}
              {panel === 'tests' && <TestsPanel draft={draft} onChange={change} />}
              {panel === 'options' && (
                <OptionsPanel draft={draft} onChange={change} mistakes={mistakes} />
              )}
            </div>
          )}
        </Tabs>
        <p class="actions row">
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
          {!isKept && (
            <small role="status" class="mistake">
              This draft is too large to be kept by the browser: save it before you leave.
            </small>
          )}
        </p>
      </section>
      <Outcome run={run} hasKey={hasKey} />
      {isCopying && <CopyAs request={toRequest(draft)} onClose={() => setCopying(false)} />}
    </div>
  )
}

// A draft may be a megabyte, so it is not stored at every keystroke.
const keptAfterMilliseconds = 400

/** Returns this tab's draft, whether it could be stored, and a setter. The first draft is an example. */
function useDraft(): readonly [
  draft: Draft,
  isKept: boolean,
  set: (change: (before: Draft) => Draft) => void,
] {
  const offered = useStore(languages)
  const [draft, setDraft] = useState(() => readDraft(recall('draft')) ?? emptyDraft)
  const [isKept, setKept] = useState(true)
  const newest = useRef(draft)
  newest.current = draft
  useEffect(() => {
    const timer = setTimeout(
      () => setKept(keep('draft', JSON.stringify(draft))),
      keptAfterMilliseconds,
    )
    return () => clearTimeout(timer)
  }, [draft])
  // Stores the newest draft when the user leaves the page.
  useEffect(() => {
    const flush = (): void => void keep('draft', JSON.stringify(newest.current))
    addEventListener('pagehide', flush)
    document.addEventListener('visibilitychange', flush)
    return () => {
      flush()
      removeEventListener('pagehide', flush)
      document.removeEventListener('visibilitychange', flush)
    }
  }, [])
  // A layout effect, so that no language is drawn before its example is there.
  useLayoutEffect(() => {
    if (offered === null || offered.length === 0) return
    setDraft((before) => {
      const found = offered.find(({ name }) => name === before.language)
      if (before.code !== '') return before
      const first = found ?? offered[0]
      return { ...before, language: first?.name ?? before.language, code: first?.example ?? '' }
    })
  }, [offered])
  return [draft, isKept, setDraft]
}

/** Starts a run on Ctrl or Cmd with Enter, wherever the focus is. */
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
