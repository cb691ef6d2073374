// The view of one submission: its outcome, what was submitted, and its timeline.
import type { LedgerEvent, Result } from '#client'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { Actions } from './actions.tsx'
import { recallAsked } from './asked.ts'
import { Failure } from './failure.tsx'
import { formatTime, nameOutcome } from './format.ts'
import { useLanguage } from './languages.ts'
import type { Live } from './live.ts'
import { LiveView } from './live-view.tsx'
import { Visible } from './output.tsx'
import { Fact } from './part.tsx'
import { Received } from './received.tsx'
import { Rerun } from './rerun.tsx'
import { ResultView } from './result.tsx'
import { formatRoute } from './route.ts'
import { isFinal, read, readEvents } from './service.ts'
import { key } from './session.ts'
import { useStore } from './store.ts'
import { describeStory } from './story.ts'
import { Timeline } from './timeline.tsx'
import { watch } from './watch.ts'
import { useFollowed } from './work.ts'

interface Shown {
  readonly record: Result
  readonly events: readonly LedgerEvent[]
  /** Null when the submission has ended. */
  readonly live: Live | null
}

export function Submission({ id }: { readonly id: string }): JSX.Element {
  const ownKey = useStore(key)
  const { value: shown, failure } = useFollowed<Shown>(
    async (signal, update) => {
      if (ownKey !== null) await follow(id, signal, update)
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
        <p class="empty">
          {ownKey === null
            ? 'Sign in with a key of the account that submitted it.'
            : failure === null
              ? 'Loading…'
              : ''}
        </p>
      ) : (
        <Page shown={shown} />
      )}
    </div>
  )
}

/** Follows a submission. Reloads its record and events whenever its status changes. */
async function follow(
  id: string,
  signal: AbortSignal,
  update: (shown: Shown) => void,
): Promise<void> {
  const load = async (): Promise<Shown> => {
    const record = await read(id, signal)
    return { record, events: await readEvents(id, signal), live: null }
  }
  let shown = await load()
  update(shown)
  if (isFinal(shown.record)) return
  let loading = Promise.resolve()
  const reload = async (): Promise<void> => {
    const loaded = await load()
    if (isFinal(loaded.record)) return
    shown = { ...loaded, live: shown.live }
    update(shown)
  }
  const record = await watch(id, signal, (live) => {
    const isOther = live.status !== (shown.live ?? shown.record).status
    shown = { ...shown, live }
    update(shown)
    if (!isOther) return
    loading = loading.then(reload)
    // The failure is thrown where `loading` is awaited.
    loading.catch(() => {})
  })
  await loading
  update({ record, events: await readEvents(id, signal), live: null })
}

function Page({ shown }: { readonly shown: Shown }): JSX.Element {
  const { events, live } = shown
  const record = { ...shown.record, ...(live !== null && { status: live.status }) }
  const asked = recallAsked(events, record.tests !== null)
  const { word } = nameOutcome(record, asked.isJudged)
  const language = useLanguage(record.language)?.title
  useEffect(() => {
    document.title = `${language ?? record.language}, ${word} · Runledger`
  }, [language, word])
  const names = record.tests?.map(({ name }) => name) ?? []
  return (
    <>
      <Actions record={record} />
      <Facts record={record} />
      {record.rerun_of !== null && isFinal(record) && (
        <Rerun first={record.rerun_of} now={record} isJudged={asked.isJudged} />
      )}
      <ResultView result={record} asked={asked} />
      {live !== null && <LiveView live={live} />}
      <Received id={record.id} />
      <Timeline steps={describeStory(events, names, asked.isJudged)} />
      <details>
        <summary>Record</summary>
        <pre tabIndex={0} role="region" aria-label="Record">
          <Visible text={JSON.stringify(shorten(record), null, 2)} />
        </pre>
      </details>
    </>
  )
}

/** Leaves out the outputs, which are shown above. */
function shorten(record: Result): object {
  const { stdout: _out, stderr: _err, compile_output: _compiler, tests: _tests, ...rest } = record
  return { ...rest, files: rest.files?.map(({ content: _content, ...file }) => file) ?? null }
}

function Facts({ record }: { readonly record: Result }): JSX.Element {
  const first = record.rerun_of
  return (
    <dl class="facts">
      <Fact name="Language">{record.runtime ?? record.language}</Fact>
      <Fact name="Received">
        <time datetime={record.created_at}>{formatTime(record.created_at)}</time>
      </Fact>
      {record.score !== undefined && (
        <Fact name="Score">
          {record.score} of {record.max_score}
        </Fact>
      )}
      {record.tag !== null && (
        <Fact name="Tag">
          <Visible text={record.tag} />
        </Fact>
      )}
      {first !== null && (
        <Fact name="Rerun of">
          <a href={formatRoute({ view: 'submission', id: first })}>{first}</a>
        </Fact>
      )}
    </dl>
  )
}
