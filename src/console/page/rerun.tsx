// Compares a rerun with the original: their figures, and where their outputs differ.
import type { Result } from '#client'
import type { JSX } from 'preact'
import { compare } from './compare.ts'
import type { Comparison, Pair } from './compare.ts'
import { Failure } from './failure.tsx'
import { count } from './format.ts'
import { Visible } from './output.tsx'
import { formatRoute } from './route.ts'
import { read } from './service.ts'
import { DifferenceView } from './tests.tsx'
import { useFollowed } from './work.ts'

// More differences would not help anybody.
const shownOutputs = 10

/** @param first the original's id. @param now the rerun, which has ended. */
export function Rerun({
  first: id,
  now,
  isJudged,
}: {
  readonly first: string
  readonly now: Result
  readonly isJudged: boolean
}): JSX.Element {
  const { value: first, failure } = useFollowed<Result>(
    async (signal, update) => update(await read(id, signal)),
    [id],
  )
  return (
    <section class="rerun" aria-label="Compared with the first run">
      <h2>Compared with the first run</h2>
      {failure !== null && <Failure of={failure} />}
      {first !== null && <Compared of={compare(first, now, isJudged)} />}
      <p class="hint">
        This is a rerun of <a href={formatRoute({ view: 'submission', id })}>the first run</a>.
      </p>
    </section>
  )
}

function Compared({ of }: { readonly of: Comparison }): JSX.Element {
  const { pairs, outputs, isPurged } = of
  const differing = [
    ...pairs.flatMap(({ label, differs }) => (differs ? [label] : [])),
    ...outputs.map(({ label }) => label),
  ]
  return (
    <>
      <p role="status">
        {differing.length === 0 ? (
          'Same result as the first run.'
        ) : (
          <>
            {`${count(differing.length, 'difference')}: `}
            <Visible text={summarize(differing)} />
          </>
        )}
        {isPurged && ' Outputs were removed after the retention period, and are not compared.'}
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Figures of both">
        <table>
          <thead>
            <tr>
              <th scope="col">Figure</th>
              <th scope="col">First</th>
              <th scope="col">Now</th>
              <th scope="col" class="figure">
                Change
              </th>
            </tr>
          </thead>
          <tbody>{pairs.map(drawPair)}</tbody>
        </table>
      </div>
      {outputs.slice(0, shownOutputs).map(({ label, difference }) => (
        <DifferenceView key={label} of={difference} title={label} labels={['First', 'Now']} />
      ))}
    </>
  )
}

function summarize(labels: readonly string[]): string {
  const shown = labels.slice(0, shownOutputs).join(', ')
  return labels.length > shownOutputs ? `${shown}, …` : `${shown}.`
}

function drawPair({ label, first, now, change, differs }: Pair): JSX.Element {
  const shown = differs ? <strong>{change ?? 'differs'}</strong> : change
  return (
    <tr key={label} class={differs ? 'differs' : undefined}>
      <th scope="row">
        <Visible text={label} />
      </th>
      <td>
        <Visible text={first} />
      </td>
      <td>
        <Visible text={now} />
      </td>
      <td class="figure">{shown}</td>
    </tr>
  )
}
