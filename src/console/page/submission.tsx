// One submission: its outcome and its timeline. What it was given is not shown, as the service tells it to nobody.
import type { Result } from '#client'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Failure } from './failure.tsx'
import { useFollowed } from './follow.ts'
import { formatSeconds, formatTime, share } from './format.ts'
import { copyText } from './part.tsx'
import { Visible } from './output.tsx'
import { ResultView } from './result.tsx'
import { cancel, isFinal, readEvents, watch } from './service.ts'
import type { LogEvent, RunLimits } from './service.ts'
import { key } from './session.ts'
import { useStore } from './store.ts'
import { tellStory } from './story.ts'
import type { Step } from './story.ts'

interface Shown {
  readonly record: Result
  readonly events: readonly LogEvent[]
}

export function Submission({ id }: { readonly id: string }): JSX.Element {
  const ownKey = useStore(key)
  const { value: shown, failure } = useFollowed<Shown>(
    async (signal, tell) => {
      if (ownKey === null) return
      const show = async (record: Result): Promise<void> =>
        tell({ record, events: await readEvents(id, signal) })
      let showing = Promise.resolve()
      await watch(id, signal, (record) => {
        showing = showing.then(() => show(record))
      })
      await showing
    },
    [id, ownKey],
  )
  if (failure?.status === 404) {
    return (
      <div class="submission">
        <h1>There is no such submission</h1>
        <p>No submission of this account has the id in the address.</p>
        <p>
          <a href="#/submissions">All submissions</a>
        </p>
      </div>
    )
  }
  return (
    <div class="submission">
      <h1>Submission</h1>
      {failure !== null && <Failure of={failure} />}
      {shown === null ? (
        <p class="empty">{failure === null && ownKey !== null ? 'Loading…' : ''}</p>
      ) : (
        <Page id={id} shown={shown} />
      )}
    </div>
  )
}

function Page({ id, shown }: { readonly id: string; readonly shown: Shown }): JSX.Element {
  const { record, events } = shown
  const names = record.tests?.map(({ name }) => name) ?? []
  return (
    <>
      <Facts id={id} record={record} />
      <ResultView result={record} limits={findLimits(events)} />
      <Timeline steps={tellStory(events, names)} />
      <details>
        <summary>Record</summary>
        <pre tabIndex={0} role="region" aria-label="Record">
          <Visible text={JSON.stringify(shorten(record), null, 2)} />
        </pre>
      </details>
    </>
  )
}

/** What its outputs are is shown above. */
function shorten(record: Result): object {
  const { stdout: _out, stderr: _err, compile_output: _compiler, tests: _tests, ...rest } = record
  return { ...rest, files: rest.files?.map(({ content: _content, ...file }) => file) ?? null }
}

/** Those of the newest attempt. */
function findLimits(events: readonly LogEvent[]): RunLimits | null {
  const started = events.findLast(({ type }) => type === 'execution.started')
  const limits = started?.data['limits'] as { run: RunLimits } | null | undefined
  return limits?.run ?? null
}

function Facts({ id, record }: { readonly id: string; readonly record: Result }): JSX.Element {
  const [told, setTold] = useState('')
  const [isStopping, setStopping] = useState(false)
  const stop = (): void => {
    setStopping(true)
    cancel(id).catch(() => setStopping(false))
  }
  const link = async (): Promise<void> =>
    setTold((await copyText(location.href)) ? 'Copied.' : 'The link is in the address bar.')
  return (
    <>
      <p class="row">
        <code class="id">{id}</code>
        <button type="button" class="quiet" onClick={() => void link()}>
          Copy link
        </button>
        <span role="status">{told}</span>
        {!isFinal(record) && (
          <button type="button" class="danger" disabled={isStopping} onClick={stop}>
            Stop
          </button>
        )}
      </p>
      <dl class="facts">
        <div>
          <dt>Language</dt>
          <dd>{record.runtime ?? record.language}</dd>
        </div>
        <div>
          <dt>Received</dt>
          <dd>
            <time datetime={record.created_at}>{formatTime(record.created_at)}</time>
          </dd>
        </div>
        {record.tag !== null && (
          <div>
            <dt>Tag</dt>
            <dd>
              <Visible text={record.tag} />
            </dd>
          </div>
        )}
      </dl>
    </>
  )
}

function Timeline({ steps }: { readonly steps: readonly Step[] }): JSX.Element {
  const longest = Math.max(...steps.map(({ seconds }) => seconds ?? 0))
  return (
    <section>
      <h2>Timeline</h2>
      <ol class="timeline">
        {steps.map(({ at, title, detail, seconds, tone }, index) => (
          <li key={index} class={`${tone}${at === null ? ' part' : ''}`}>
            <span class="when">
              {at !== null && <time datetime={at}>{formatTime(at).slice(11)}</time>}
            </span>
            <span class="what">
              <strong>
                <Visible text={title} />
              </strong>{' '}
              <span>{detail}</span>
            </span>
            <span class="took">
              {seconds !== null && (
                <>
                  <span class="bar" aria-hidden="true">
                    <span style={{ inlineSize: `${share(seconds, longest) * 100}%` }} />
                  </span>
                  {formatSeconds(seconds)}
                </>
              )}
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}
