// The code editor, made with CodeMirror. It is in a shadow root, where CodeMirror keeps its styles in constructed style sheets,
// because the page's policy allows scripts no other styles.
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import {
  HighlightStyle,
  bracketMatching,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language'
import { Annotation, Compartment, EditorState, Prec } from '@codemirror/state'
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { loadMode } from './mode.ts'

const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--paper)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: 'var(--code-size)', lineHeight: '1.6' },
  '.cm-content': { padding: '0.75rem 0', caretColor: 'var(--accent)' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '.cm-gutters': {
    backgroundColor: 'var(--paper)',
    color: 'var(--faint)',
    border: 'none',
    paddingRight: '0.25rem',
  },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '2.4em', padding: '0 0.5em' },
  '.cm-activeLine': { backgroundColor: 'var(--line-tint)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'var(--selection)',
  },
  '.cm-selectionBackground': { backgroundColor: 'var(--selection)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--selection)' },
  '.cm-specialChar': { color: 'var(--bad)' },
})

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--code-number)' },
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.className, tags.namespace], color: 'var(--code-type)' },
  {
    tag: [tags.definition(tags.variableName), tags.function(tags.variableName)],
    color: 'var(--accent)',
  },
  { tag: [tags.meta, tags.processingInstruction], color: 'var(--code-type)' },
])

/** Marks a change that the page made, as opposed to the user. */
const isGiven = Annotation.define<boolean>()

interface EditorProps {
  readonly value: string
  readonly language: string
  readonly label: string
  onChange(value: string): void
  onRun(): void
}

export function Editor({ value, language, label, onChange, onRun }: EditorProps): JSX.Element {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<EditorView | null>(null)
  const mode = useRef(new Compartment())
  // The view is created once, so it reads the newest callbacks from here.
  const calls = useRef({ onChange, onRun })
  calls.current = { onChange, onRun }

  useEffect(() => {
    const { current: place } = host
    if (place === null) return
    const root = place.shadowRoot ?? place.attachShadow({ mode: 'open' })
    const run = {
      key: 'Mod-Enter',
      run: () => {
        calls.current.onRun()
        return true
      },
    }
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: value,
        extensions: [
          Prec.highest(keymap.of([run])),
          lineNumbers(),
          highlightSpecialChars(),
          highlightActiveLine(),
          drawSelection(),
          history(),
          indentOnInput(),
          bracketMatching(),
          indentUnit.of('    '),
          EditorView.lineWrapping,
          EditorState.tabSize.of(4),
          keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
          syntaxHighlighting(colours),
          theme,
          mode.current.of([]),
          EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
          EditorView.updateListener.of(({ docChanged, state, transactions }) => {
            const isTyped = !transactions.some((one) => one.annotation(isGiven) === true)
            if (docChanged && isTyped) calls.current.onChange(state.doc.toString())
          }),
        ],
      }),
    })
    editor.current = view
    return () => {
      editor.current = null
      view.destroy()
    }
  }, [])

  // A layout effect runs at once, while the value is the newest. A later effect would undo what was typed since.
  useLayoutEffect(() => {
    const { current: view } = editor
    if (view === null || view.state.doc.toString() === value) return
    const changes = { from: 0, to: view.state.doc.length, insert: value }
    view.dispatch({ changes, annotations: isGiven.of(true) })
  }, [value])

  useEffect(() => {
    let isWanted = true
    const colour = async (): Promise<void> => {
      const found = await loadMode(language)
      const effects = mode.current.reconfigure(found === null ? [] : [found])
      if (isWanted) editor.current?.dispatch({ effects })
    }
    void colour()
    return () => {
      isWanted = false
    }
  }, [language])

  return <div class="editor" ref={host} />
}
