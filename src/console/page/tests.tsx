// The result of each test, and where an output differs from the expected one.
import type { AttemptLimits, Difference, TestResult } from '#client'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { commonStart } from './compare.ts'
import { formatBytes, formatSeconds, judgeVerdict, nameTest, verdictNames } from './format.ts'
import { Output, Visible } from './output.tsx'
import { Fact, Mark } from './part.tsx'
import { escapeHidden } from './visible.ts'

/** Shows two lines from where they differ, the expected one first. @param title of the text, where there are several. */
export function DifferenceView({
  of,
  title,
  labels: [before, after] = ['Expected', 'Got'],
}: {
  readonly of: Difference
  readonly title?: string
  readonly labels?: readonly [expected: string, got: string]
}): JSX.Element {
  const { line, expected, got } = of
  const same = commonStart(expected ?? '', got ?? '')
  const row = (label: string, text: string | null): JSX.Element => (
    <Fact name={label}>
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
    </Fact>
  )
  return (
    <section
      class="difference"
      aria-label={`Difference in line ${line}${title === undefined ? '' : ` of ${escapeHidden(title)}`}`}
    >
      <p>
        <strong>
          {title !== undefined && (
            <>
              <Visible text={title} />,{' '}
            </>
          )}
          {title === undefined ? 'Line' : 'line'} {line}
        </strong>
      </p>
      <dl>
        {row(before, expected)}
        {row(after, got)}
      </dl>
    </section>
  )
}

function TestRow({
  test,
  index,
  limits,
}: {
  readonly test: TestResult
  readonly index: number
  readonly limits: AttemptLimits['run'] | null
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
  return (
    <>
      <tr>
        <th scope="row">
          <Visible text={name} />
        </th>
        <td>
          <Mark tone={judgeVerdict(test.verdict)} word={verdictNames[test.verdict]} />
        </td>
        <td class="figure">{formatSeconds(test.cpu_time ?? 0)}</td>
        <td class="figure">{formatBytes(test.memory_peak ?? 0)}</td>
        <td>
          {test.stdout !== null && (
            <button
              type="button"
              class="quiet"
              aria-expanded={isOpen}
              aria-label={`${isOpen ? 'Hide' : 'Show'} the output of test ${escapeHidden(name)}`}
              onClick={() => setOpen(!isOpen)}
            >
              {isOpen ? 'Hide' : 'Show'}
            </button>
          )}
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
                  isTruncated={test.stdout_truncated}
                  name="stdout.txt"
                />
                {(test.stderr ?? '') !== '' && (
                  <Output
                    title={`stderr of ${name}`}
                    text={test.stderr ?? ''}
                    isTruncated={test.stderr_truncated}
                    name="stderr.txt"
                  />
                )}
                {limits !== null && test.wall_time !== null && (
                  <p class="hint">
                    {formatSeconds(test.wall_time)} of {formatSeconds(limits.wall_time)}.
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

/** @param isOver false when more tests may end. */
export function Tests({
  tests,
  limits,
  isOver = true,
}: {
  readonly tests: readonly TestResult[]
  readonly limits: AttemptLimits['run'] | null
  readonly isOver?: boolean
}): JSX.Element {
  const passed = tests.filter(({ verdict }) => verdict === 'AC').length
  return (
    <section class="tests">
      <h2>
        Tests <small>{`${passed} of ${tests.length} passed${isOver ? '' : ' so far'}`}</small>
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
