// What became of a submission: its verdict and why, what it used beside what it might, its tests and outputs.
import type { Difference, Result, TestResult } from '#client'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { explain, formatBytes, formatSeconds, nameTest, share, verdictNames } from './format.ts'
import { Badge, Mark, saveText } from './part.tsx'
import type { RunLimits } from './service.ts'
import { cut, escapeHidden, showHidden } from './visible.ts'

// More would make a browser slow; all of it can be saved.
const shownCharacters = 100_000

/** Text of others: never markup, and nothing in it is obeyed. */
export function Visible({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      {showHidden(text).map((piece) =>
        piece.isEscape ? <span class="escape">{piece.text}</span> : piece.text,
      )}
    </>
  )
}

export function Output({
  title,
  text,
  isTruncated,
  name,
}: {
  readonly title: string
  readonly text: string
  readonly isTruncated: boolean
  /** Of the file that it is saved as. */
  readonly name: string
}): JSX.Element {
  const shown = cut(text, shownCharacters)
  const rest = text.length - shown.length
  return (
    <section class="output">
      <header>
        <h2>{title}</h2>
        <button type="button" class="quiet" onClick={() => saveText(name, text)}>
          Save
        </button>
      </header>
      <pre tabIndex={0} role="region" aria-label={title} dir="ltr">
        <Visible text={shown} />
      </pre>
      {rest > 0 && (
        <p class="hint">
          {rest.toLocaleString('en')} more characters are not shown; Save has them.
        </p>
      )}
      {isTruncated && <p class="hint">It wrote more than was kept.</p>}
    </section>
  )
}

function Meter({
  label,
  used,
  most,
  format,
}: {
  readonly label: string
  readonly used: number
  readonly most: number | null
  format(figure: number): string
}): JSX.Element {
  const part = most === null ? 0 : share(used, most)
  const level = part >= 0.95 ? 'full' : part >= 0.75 ? 'high' : 'low'
  return (
    <div class="meter">
      <dt>{label}</dt>
      <dd>
        <strong>{format(used)}</strong>
        {most !== null && <span> of {format(most)}</span>}
        <span class={`bar ${level}`} aria-hidden="true">
          <span style={{ inlineSize: `${Math.max(part * 100, 0.5)}%` }} />
        </span>
      </dd>
    </div>
  )
}

function Meters({
  result,
  limits,
}: {
  readonly result: Result
  readonly limits: RunLimits | null
}): JSX.Element | null {
  const { cpu_time: cpu, wall_time: wall, memory_peak: memory, verdict } = result
  if (cpu === null || wall === null || memory === null) return null
  // They never ran.
  if (verdict === 'CE' || (verdict === 'IE' && wall === 0)) return null
  return (
    <dl class="meters">
      <Meter
        label="CPU time"
        used={cpu}
        most={limits?.cpu_seconds ?? null}
        format={formatSeconds}
      />
      <Meter label="Time" used={wall} most={limits?.wall_seconds ?? null} format={formatSeconds} />
      <Meter
        label="Memory"
        used={memory}
        most={limits?.memory_bytes ?? null}
        format={formatBytes}
      />
    </dl>
  )
}

/** Expected beside got, from where they part. */
export function DifferenceView({ of }: { readonly of: Difference }): JSX.Element {
  const { line, expected, got } = of
  const same = commonStart(expected ?? '', got ?? '')
  const row = (label: string, text: string | null): JSX.Element => (
    <div>
      <dt>{label}</dt>
      <dd>
        {text === null ? (
          <em>no such line</em>
        ) : (
          <code dir="ltr">
            <Visible text={text.slice(0, same)} />
            <mark>
              <Visible text={text.slice(same)} />
            </mark>
          </code>
        )}
      </dd>
    </div>
  )
  return (
    <section class="difference" aria-label={`Difference in line ${line}`}>
      <p>
        <strong>Line {line}</strong>
      </p>
      <dl>
        {row('Expected', expected)}
        {row('Got', got)}
      </dl>
    </section>
  )
}

function commonStart(one: string, other: string): number {
  let end = 0
  while (end < one.length && end < other.length && one[end] === other[end]) end += 1
  // Not between the halves of one character.
  return cut(one, end).length
}

function TestRow({
  test,
  index,
  limits,
}: {
  readonly test: TestResult
  readonly index: number
  readonly limits: RunLimits | null
}): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  const name = nameTest(test.name, index)
  if (test.verdict === null) {
    return (
      <tr>
        <th scope="row">
          <Visible text={name} />
        </th>
        <td colSpan={4}>
          <Mark tone="none" word="Not run" />
        </td>
      </tr>
    )
  }
  const tone = test.verdict === 'AC' ? 'good' : test.verdict === 'IE' ? 'fault' : 'bad'
  return (
    <>
      <tr>
        <th scope="row">
          <Visible text={name} />
        </th>
        <td>
          <Mark tone={tone} word={verdictNames[test.verdict]} />
        </td>
        <td class="figure">{formatSeconds(test.cpu_time ?? 0)}</td>
        <td class="figure">{formatBytes(test.memory_peak ?? 0)}</td>
        <td>
          <button
            type="button"
            class="quiet"
            aria-expanded={isOpen}
            aria-label={`${isOpen ? 'Hide' : 'Show'} the output of test ${escapeHidden(name)}`}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? 'Hide' : 'Show'}
          </button>
        </td>
      </tr>
      {(isOpen || test.difference !== null || test.message !== null) && (
        <tr class="more">
          <td colSpan={5}>
            {test.message !== null && test.message !== '' && (
              <p>
                <Visible text={test.message} />
              </p>
            )}
            {test.difference !== null && <DifferenceView of={test.difference} />}
            {isOpen && (
              <>
                <Output
                  title={`stdout of ${name}`}
                  text={test.stdout ?? ''}
                  isTruncated={test.stdout_truncated === true}
                  name="stdout.txt"
                />
                {(test.stderr ?? '') !== '' && (
                  <Output
                    title={`stderr of ${name}`}
                    text={test.stderr ?? ''}
                    isTruncated={test.stderr_truncated === true}
                    name="stderr.txt"
                  />
                )}
                {limits !== null && test.wall_time !== null && (
                  <p class="hint">
                    {formatSeconds(test.wall_time)} of {formatSeconds(limits.wall_seconds)}.
                  </p>
                )}
              </>
            )}
          </td>
        </tr>
      )}
    </>
  )
}

function Tests({
  tests,
  limits,
}: {
  readonly tests: readonly TestResult[]
  readonly limits: RunLimits | null
}): JSX.Element {
  const passed = tests.filter(({ verdict }) => verdict === 'AC').length
  return (
    <section class="tests">
      <h2>
        Tests <small>{`${passed} of ${tests.length} passed`}</small>
      </h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Tests">
        <table>
          <thead>
            <tr>
              <th scope="col">Test</th>
              <th scope="col">Verdict</th>
              <th scope="col" class="figure">
                CPU time
              </th>
              <th scope="col" class="figure">
                Memory
              </th>
              <th scope="col">Output</th>
            </tr>
          </thead>
          <tbody>
            {tests.map((test, index) => (
              <TestRow key={index} test={test} index={index} limits={limits} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

/** @param limits those of the run; null when they are not known. */
export function ResultView({
  result,
  limits,
}: {
  readonly result: Result
  readonly limits: RunLimits | null
}): JSX.Element {
  const { stdout, stderr, tests, difference, compile_output: compiled } = result
  const isFinal = result.status !== 'queued' && result.status !== 'running'
  return (
    <div class="result">
      <p class="verdict">
        <Badge of={result} /> <span>{explain(result)}</span>
      </p>
      <Meters result={result} limits={limits} />
      {result.purged_at !== null && <p class="hint">Its outputs were removed for their age.</p>}
      {tests === null && difference !== null && <DifferenceView of={difference} />}
      {tests !== null && <Tests tests={tests} limits={limits} />}
      {compiled !== null && compiled !== '' && (
        <Output title="Compiler" text={compiled} isTruncated={false} name="compiler.txt" />
      )}
      {isFinal && stdout !== null && tests === null && result.verdict !== 'CE' && (
        <Output
          title="stdout"
          text={stdout}
          isTruncated={result.stdout_truncated === true}
          name="stdout.txt"
        />
      )}
      {isFinal && stderr !== null && stderr !== '' && tests === null && (
        <Output
          title="stderr"
          text={stderr}
          isTruncated={result.stderr_truncated === true}
          name="stderr.txt"
        />
      )}
    </div>
  )
}
