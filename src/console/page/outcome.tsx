// The result beside the code: the run's progress, then its outcome.
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Failure } from './failure.tsx'
import { explain, formatSeconds, nameOutcome } from './format.ts'
import { LiveView } from './live-view.tsx'
import type { Live } from './live.ts'
import { ResultView } from './result.tsx'
import { formatRoute } from './route.ts'
import { fresh, isUnderWay } from './run.ts'
import type { Run } from './run.ts'

export function Outcome({
  run,
  hasKey,
}: {
  readonly run: Run | null
  readonly hasKey: boolean
}): JSX.Element {
  const { id, record, asked, live, failure, since } = run ?? fresh
  const underWay = isUnderWay(run)
  return (
    <section class="outcome" aria-label="Result" aria-busy={underWay}>
      {/* A screen reader announces the outcome of a run once. */}
      <p class="unseen" role="status">
        {record !== null
          ? `${nameOutcome(record, asked.isJudged).word}. ${explain(record)}`
          : underWay
            ? 'Running'
            : ''}
      </p>
      {run === null && (
        <p class="empty">
          {hasKey
            ? 'Write a program or take the example, and press Run: its output, verdict, time and memory appear here.'
            : 'Sign in with an API key above; then Run sends the program, and its result appears here.'}
        </p>
      )}
      {failure !== null && <Failure of={failure} />}
      {underWay && <Elapsed since={since} status={live.status} />}
      {underWay && <LiveView live={live} />}
      {record !== null && <ResultView result={record} asked={asked} />}
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
  status,
}: {
  readonly since: number | null
  readonly status: Live['status']
}): JSX.Element {
  const [, redraw] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => redraw((turn) => turn + 1), 200)
    return () => clearInterval(timer)
  }, [])
  const seconds = since === null ? null : Math.floor((performance.now() - since) / 200) / 5
  const { word } = nameOutcome({ status, verdict: null })
  return (
    <p class="verdict">
      <span class="badge none busy">{word}</span>{' '}
      <span>{seconds === null ? '' : formatSeconds(seconds)}</span>
    </p>
  )
}
