// The workers, their state, and the buttons that command them.
import type { OrderWord, SeenWorker } from '#client'
import type { JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import { Visible } from '../output.tsx'
import { Mark } from '../part.tsx'
import { formatRoute } from '../route.ts'
import { Table } from '../table.tsx'
import type { Column } from '../table.tsx'
import { escapeHidden } from '../visible.ts'
import { useWork } from '../work.ts'
import { impatient } from './service.ts'
import { formatClock } from './series.ts'
import { formatAge, judgeWorker, listOrders } from './words.ts'

const orderNames: Readonly<Record<OrderWord, string>> = {
  pause: 'Pause',
  drain: 'Drain',
  restart: 'Restart',
  resume: 'Resume',
}

const nameWorker = ({ host, pid }: SeenWorker): string => `${escapeHidden(host)} ${pid}`

export function Workers({
  of,
  mayOrder,
}: {
  readonly of: readonly SeenWorker[]
  readonly mayOrder: boolean
}): JSX.Element {
  const id = useId()
  const [message, setMessage] = useState('')
  const { failure, begin } = useWork()
  const order = (worker: SeenWorker, word: OrderWord): void => {
    setMessage('')
    // Confirmed first, because no command undoes it.
    const question = `Drain ${nameWorker(worker)}? It finishes its programs and ends.`
    if (word === 'drain' && !confirm(question)) return
    begin(async () => {
      await impatient.order(worker.id, word)
      setMessage(`${orderNames[word]}: ${nameWorker(worker)} heeds it at its next heartbeat.`)
    })
  }
  const columns: readonly Column<SeenWorker>[] = [
    {
      head: 'Host',
      title: (worker) => worker.id,
      draw: (worker) => (
        <>
          <Visible text={worker.host} /> <small>{worker.pid}</small>
        </>
      ),
    },
    {
      head: 'State',
      draw: (worker) => (
        <>
          <Mark
            tone={judgeWorker(worker)}
            word={worker.state === 'gone' ? 'gone: no heartbeat' : worker.state}
          />{' '}
          {worker.suspended_at !== null && `since ${formatClock(worker.suspended_at)} `}
          <Visible text={worker.suspended_because ?? ''} />
        </>
      ),
    },
    { head: 'Busy', draw: ({ busy, slots }) => `${busy} of ${slots}` },
    { head: 'Heartbeat', draw: (worker) => `${formatAge(worker.heartbeat_seconds)} ago` },
    {
      head: 'Boxes',
      draw: ({ box, cgroup }) => <Visible text={`${box ?? '–'} ${cgroup ?? ''}`} />,
    },
    { head: 'Version', draw: ({ version }) => <Visible text={version ?? '–'} /> },
    {
      head: 'Languages',
      draw: ({ languages }) => languages.length,
      title: ({ languages }) => languages.join(', '),
    },
    ...(mayOrder ? [{ head: 'Actions', draw: drawOrders }] : []),
  ]
  function drawOrders(worker: SeenWorker): JSX.Element {
    return (
      <span class="row">
        {listOrders(worker).map((word) => (
          <button
            key={word}
            type="button"
            aria-label={`${orderNames[word]} ${nameWorker(worker)}`}
            onClick={() => order(worker, word)}
          >
            {orderNames[word]}
          </button>
        ))}
      </span>
    )
  }
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>Workers</h2>
      <p class="hint">
        <a href={formatRoute({ view: 'service', show: 'ended' })}>Workers that ended</a>{' '}
        <span role="status">{failure?.message ?? message}</span>
      </p>
      <Table
        heading={id}
        rows={of}
        columns={columns}
        keyOf={(one) => one.id}
        empty={
          <>
            No worker is running: <code>runledger worker</code> starts one.
          </>
        }
      />
    </section>
  )
}
