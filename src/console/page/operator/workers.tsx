// Workers, what they do, and the buttons that order them.
import { RunledgerError } from '#client'
import type { OrderWord, SeenWorker } from '#client'
import type { JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import { Visible } from '../output.tsx'
import { Mark } from '../part.tsx'
import { escapeHidden } from '../visible.ts'
import { orderWorker } from './service.ts'
import { formatClock } from './series.ts'
import { formatAge, judgeWorker, listOrders } from './words.ts'

const orderNames: Readonly<Record<OrderWord, string>> = {
  pause: 'Pause',
  drain: 'Drain',
  restart: 'Restart',
  resume: 'Resume',
}

// No order undoes it.
const describeDrain = (worker: SeenWorker): string =>
  `Drain ${nameWorker(worker)}? It finishes its programs and ends.`

const nameWorker = ({ host, pid }: SeenWorker): string => `${escapeHidden(host)} ${pid}`

export function Workers({
  of,
  mayOrder,
}: {
  readonly of: readonly SeenWorker[]
  readonly mayOrder: boolean
}): JSX.Element {
  const id = useId()
  const [told, setTold] = useState('')
  const order = async (worker: SeenWorker, word: OrderWord): Promise<void> => {
    setTold('')
    if (word === 'drain' && !confirm(describeDrain(worker))) return
    try {
      await orderWorker(worker.id, word)
      setTold(`${orderNames[word]}: ${nameWorker(worker)} heeds it at its next heartbeat.`)
    } catch (error) {
      if (!(error instanceof RunledgerError)) throw error
      setTold(error.message)
    }
  }
  const heads = ['Host', 'State', 'Busy', 'Heartbeat', 'Boxes', 'Version', 'Languages']
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>Workers</h2>
      <p class="hint" role="status">
        {told}
      </p>
      {of.length === 0 ? (
        <p class="empty">No worker is running.</p>
      ) : (
        <div class="scroll" tabIndex={0} role="group" aria-labelledby={id}>
          <table class="list">
            <thead>
              <tr>
                {heads.map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
                {mayOrder && <th scope="col">Actions</th>}
              </tr>
            </thead>
            <tbody>
              {of.map((worker) => (
                <tr key={worker.id}>
                  <th scope="row" title={worker.id}>
                    <Visible text={worker.host} /> <small>{worker.pid}</small>
                  </th>
                  <td>
                    <Mark tone={judgeWorker(worker)} word={worker.state} />{' '}
                    {worker.suspended_at !== null && `since ${formatClock(worker.suspended_at)} `}
                    <Visible text={worker.suspended_because ?? ''} />
                  </td>
                  <td>
                    {worker.busy} of {worker.slots}
                  </td>
                  <td>{formatAge(worker.heartbeat_seconds)} ago</td>
                  <td>
                    <Visible text={`${worker.box ?? '–'} ${worker.cgroup ?? ''}`} />
                  </td>
                  <td>
                    <Visible text={worker.version ?? '–'} />
                  </td>
                  <td title={worker.languages.join(', ')}>{worker.languages.length}</td>
                  {mayOrder && (
                    <td>
                      <span class="row">
                        {listOrders(worker).map((word) => (
                          <button
                            key={word}
                            type="button"
                            aria-label={`${orderNames[word]} ${nameWorker(worker)}`}
                            onClick={() => void order(worker, word)}
                          >
                            {orderNames[word]}
                          </button>
                        ))}
                      </span>
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
