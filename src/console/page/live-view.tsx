// An unfinished submission: its output so far, and the tests that have ended.
import type { JSX } from 'preact'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { Live, Tail } from './live.ts'
import { Output } from './output.tsx'
import { Tests } from './tests.tsx'
import { escapeHidden } from './visible.ts'

export function LiveView({ live }: { readonly live: Live }): JSX.Element {
  const { compile, stdout, stderr, tests } = live
  // Drawn only when the compiler's output changes, which is once, and not in every frame.
  const compiler = useMemo(
    () =>
      compile === null || compile === '' ? null : (
        <Output title="Compiler" text={compile} name="compiler.txt" />
      ),
    [compile],
  )
  const withoutOutputs = useMemo(
    () => tests.map((test) => ({ ...test, stdout: null, stderr: null })),
    [tests],
  )
  return (
    <>
      {compiler}
      {withoutOutputs.length > 0 && <Tests tests={withoutOutputs} limits={null} isOver={false} />}
      <LiveOutput title="stdout" tail={stdout} />
      <LiveOutput title="stderr" tail={stderr} />
    </>
  )
}

/** Stays scrolled to its end, unless the user has scrolled up to read. */
function LiveOutput({
  title,
  tail,
}: {
  readonly title: string
  readonly tail: Tail
}): JSX.Element | null {
  const box = useRef<HTMLPreElement>(null)
  const isAtEnd = useRef(true)
  // One piece of text, because each span would be one more element to draw in every frame.
  const text = useMemo(() => escapeHidden(tail.text), [tail])
  useLayoutEffect(() => {
    if (isAtEnd.current) box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [text])
  if (text === '') return null
  return (
    <section class="output">
      <header>
        <h2>{title}</h2>
      </header>
      {tail.dropped > 0 && (
        <p class="hint">
          {tail.dropped.toLocaleString('en')} characters before are shown when it has ended.
        </p>
      )}
      <pre
        ref={box}
        tabIndex={0}
        role="region"
        aria-label={title}
        dir="ltr"
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          isAtEnd.current = scrollTop + clientHeight > scrollHeight - 4
        }}
      >
        {text}
      </pre>
    </section>
  )
}
