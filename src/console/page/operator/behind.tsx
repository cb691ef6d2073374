// Lists for operators: the rows behind a figure of the overview (running submissions, due webhooks, ended workers), and the
// matches of a look-up. A list is loaded once; its link or button loads it again.
import type { Found, Webhook } from '#client'
import type { ComponentChildren, JSX } from 'preact'
import { useId, useLayoutEffect, useState } from 'preact/hooks'
import { Failure } from '../failure.tsx'
import { Field } from '../field.tsx'
import { formatBytes, formatTime } from '../format.ts'
import { Visible } from '../output.tsx'
import { Badge, Mark } from '../part.tsx'
import { formatRoute } from '../route.ts'
import type { Behind, ServiceRoute } from '../route.ts'
import { Table } from '../table.tsx'
import type { Column } from '../table.tsx'
import { useFollowed } from '../work.ts'
import { listBehind } from './service.ts'
import type { EndedWorker, Listed, RunningOne } from './service.ts'
import { Sought } from './sought.tsx'
import { formatAge } from './words.ts'

export function LookUp({ route }: { readonly route: ServiceRoute }): JSX.Element {
  const { q = '', show } = route
  const [text, setText] = useState(q)
  // Before the next event, because a later reset would take away text that was typed at once.
  useLayoutEffect(() => setText(q), [q])
  return (
    <section aria-label="Look up">
      <form
        class="look-up row"
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          // Only the label of a key goes into the address, because the browser stores addresses.
          const sought = text.trim()
          const isKey = /^rl_\w+$/.test(sought)
          location.hash = formatRoute({ view: 'service', q: isKey ? sought.slice(0, 12) : sought })
        }}
      >
        <Field label="Submission, account or key" value={text} onInput={setText} />
        <button type="submit">Look up</button>
      </form>
      {(q !== '' || show !== undefined) && <Shown key={`${q} ${show}`} route={route} />}
    </section>
  )
}

const titles: Readonly<Record<Behind, string>> = {
  running: 'Submissions that run',
  webhooks: 'Webhooks that are due',
  ended: 'Workers that ended in the last day',
}

function Shown({ route: { q = '', show } }: { readonly route: ServiceRoute }): JSX.Element {
  const id = useId()
  const { value, failure } = useFollowed<Listed>(
    async (signal, update) => update(await listBehind(show ?? { q }, signal)),
    [q, show],
  )
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{show === undefined ? <Visible text={q} /> : titles[show]}</h2>
      {failure !== null && <Failure of={failure} />}
      {value?.running !== undefined && (
        <Table heading={id} rows={value.running} columns={runningColumns} />
      )}
      {value?.webhooks !== undefined && (
        <Table heading={id} rows={value.webhooks} columns={webhookColumns} />
      )}
      {value?.ended !== undefined && (
        <Table heading={id} rows={value.ended} columns={endedColumns} />
      )}
      {value?.found !== undefined && <AllFound id={id} of={value.found} />}
      <p>
        <a href={formatRoute({ view: 'service' })}>Close</a>
      </p>
    </section>
  )
}

function AllFound({ id, of }: { readonly id: string; readonly of: Found }): JSX.Element {
  const { submissions, accounts, keys } = of
  if (submissions.length + accounts.length + keys.length === 0)
    return (
      <p class="empty">
        Nothing is called so: a submission’s whole id, a part of an account’s name, a key’s name or
        its first 12 characters are looked for.
      </p>
    )
  return (
    <>
      {submissions.length > 0 && (
        <Table heading={id} rows={submissions} columns={submissionColumns} />
      )}
      {accounts.length > 0 && <Table heading={id} rows={accounts} columns={accountColumns} />}
      {keys.length > 0 && <Table heading={id} rows={keys} columns={keyColumns} />}
    </>
  )
}

const sought = (text: string | null): ComponentChildren => text !== null && <Sought text={text} />
const time = (at: string | null): string => (at === null ? '' : formatTime(at))

const runningColumns: readonly Column<RunningOne>[] = [
  { head: 'Submission', draw: (one) => sought(one.submission) },
  { head: 'Account', draw: (one) => sought(one.account) },
  { head: 'Key', draw: (one) => sought(one.api_key) },
  { head: 'Language', draw: (one) => one.language },
  { head: 'Attempt', isFigure: true, draw: (one) => one.attempt },
  { head: 'Host', draw: (one) => <Visible text={one.host ?? ''} /> },
  { head: 'Runs for', isFigure: true, draw: (one) => formatAge(one.seconds ?? 0) },
]

const webhookColumns: readonly Column<Webhook>[] = [
  { head: 'Submission', draw: (one) => sought(one.submission_id) },
  { head: 'Account', draw: (one) => sought(one.account) },
  { head: 'Receiver', draw: (one) => <Visible text={one.receiver ?? ''} /> },
  { head: 'Attempts', isFigure: true, draw: (one) => one.attempts },
  { head: 'Next attempt', draw: (one) => time(one.next_attempt_at) },
]

const endedColumns: readonly Column<EndedWorker>[] = [
  {
    head: 'Host',
    draw: (one) => (
      <>
        <Visible text={one.host} /> <small>{one.pid}</small>
      </>
    ),
    title: (one) => one.id,
  },
  {
    head: 'End',
    draw: ({ state }) =>
      state === 'drained' ? (
        <Mark tone="none" word="drained" />
      ) : (
        <Mark tone="bad" word={state === 'lost' ? 'lost: given up' : 'gone: silent'} />
      ),
  },
  { head: 'Version', draw: (one) => <Visible text={one.version ?? '–'} /> },
  { head: 'Started', draw: (one) => time(one.started_at) },
  { head: 'Last heartbeat', draw: (one) => `${formatAge(one.heartbeat_seconds)} ago` },
]

const submissionColumns: readonly Column<Found['submissions'][number]>[] = [
  { head: 'Submission', draw: (one) => sought(one.id) },
  { head: 'Outcome', draw: (one) => <Badge of={one} /> },
  { head: 'Language', draw: (one) => one.language },
  { head: 'Account', draw: (one) => sought(one.account) },
  { head: 'Key', draw: (one) => sought(one.api_key) },
  { head: 'Received', draw: (one) => time(one.created_at) },
  { head: 'Started', draw: (one) => time(one.started_at) },
  { head: 'Ended', draw: (one) => time(one.finished_at) },
]

const accountColumns: readonly Column<Found['accounts'][number]>[] = [
  { head: 'Account', draw: (one) => sought(one.name) },
  { head: 'Created', draw: (one) => time(one.created_at) },
  { head: 'Uploads', isFigure: true, draw: (one) => formatBytes(one.blob_bytes) },
]

const keyColumns: readonly Column<Found['keys'][number]>[] = [
  { head: 'Key', draw: (one) => sought(one.label) },
  { head: 'Name', draw: (one) => <Visible text={one.name ?? ''} /> },
  { head: 'Account', draw: (one) => sought(one.account) },
  { head: 'Tier', draw: (one) => <Visible text={one.tier} /> },
  { head: 'Role', draw: (one) => one.role },
  { head: 'Issued', draw: (one) => time(one.created_at) },
  {
    head: 'Until',
    draw: (one) =>
      one.revoked_at === null ? time(one.expires_at) : `revoked ${time(one.revoked_at)}`,
  },
]
