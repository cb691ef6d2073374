// Bulk actions: a filter, a count of what matches it, and then a button that acts on those submissions and on no newer ones.
import { RunledgerError } from '#client'
import type { BulkRequest, BulkSum } from '#client'
import type { JSX } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { Failure } from '../failure.tsx'
import { Choice, Field } from '../field.tsx'
import { count, verdictNames } from '../format.ts'
import { useWork } from '../work.ts'
import { operator } from './service.ts'

const actions = { cancel: 'Cancel', rerun: 'Run again', replay: 'Send webhooks again' } as const
type Action = keyof typeof actions

/** The text of the button, and the message when the action is done. */
const words: Readonly<Record<Action, (sum: number) => readonly [todo: string, done: string]>> = {
  cancel: (sum) => [`Cancel ${count(sum, 'submission')}`, `Cancelled ${count(sum, 'submission')}.`],
  rerun: (sum) => [
    `Run ${count(sum, 'submission')} again`,
    `Queued ${count(sum, 'submission')} again.`,
  ],
  replay: (sum) => [
    `Send ${count(sum, 'webhook')} again`,
    `Queued ${count(sum, 'webhook')} again.`,
  ],
}

// Delivered webhooks are sent again only when the operator chooses so.
const usualWebhook = 'abandoned'
// About ten years.
const hoursMost = 100_000

/** The counted selection, on which the button acts. Its filter has `until`, so newer submissions are not touched. */
interface Counted {
  readonly sum: number
  readonly action: Action
  readonly request: BulkRequest
}

export function Bulk(): JSX.Element {
  const id = useId()
  const [action, setAction] = useState<Action>('cancel')
  const [fields, setFields] = useState<Readonly<Record<string, string>>>({})
  const [secret, setSecret] = useState('')
  const [counted, setCounted] = useState<Counted | null>(null)
  const [message, setMessage] = useState('')
  const { isWorking, failure, begin, stop } = useWork()
  const isCount = useRef(false)

  // A finished or running count belongs to the old filter, so it is dropped.
  const change = (then: () => void): void => {
    if (isCount.current) stop()
    setCounted(null)
    setMessage('')
    then()
  }
  const field = (name: string, usual = '') => ({
    value: fields[name] ?? usual,
    onInput: (value: string) => change(() => setFields((before) => ({ ...before, [name]: value }))),
  })
  const onStep = ({ count: sum }: BulkSum): void => setMessage(`${count(sum, 'submission')} so far`)
  const countThem = (): void =>
    begin(async (signal) => {
      isCount.current = true
      setCounted(null)
      const request = describe(action, fields)
      const { count: sum, until } = await operator.count(request, { signal, onStep })
      setMessage(`${count(sum, 'submission')} match.`)
      setCounted({ sum, action, request: { ...request, filter: { ...request.filter, until } } })
    })
  const act = ({ sum, action: what, request }: Counted): void => {
    const isAll = what === 'cancel' && request.filter['account'] === undefined
    if (isAll && !confirm(`Cancel ${count(sum, 'submission')}, of every account?`)) return
    begin(async (signal) => {
      isCount.current = false
      setCounted(null)
      const asked = { ...request, ...(what === 'replay' && secret !== '' && { secret }) }
      const done = await operator.act(asked, { signal, onStep })
      setMessage(words[what](done.count)[1])
    })
  }
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>Bulk actions</h2>
      <form
        class="filters"
        aria-labelledby={id}
        onSubmit={(event) => {
          event.preventDefault()
          countThem()
        }}
      >
        <Choice
          label="Action"
          value={action}
          options={Object.entries(actions)}
          onInput={(name) => change(() => setAction(name as Action))}
        />
        <Field label="Account" {...field('account')} />
        <Field label="Language" {...field('language')} />
        <Choice
          label="Verdict"
          options={[['', 'Any'], ...Object.entries(verdictNames)]}
          {...field('verdict')}
        />
        <Field label="Tag" {...field('tag')} />
        <Field label="Hours back" inputMode="decimal" placeholder="24" {...field('hours')} />
        {action === 'replay' && (
          <Choice
            label="Delivery"
            options={[
              ['abandoned', 'Abandoned'],
              ['delivered', 'Delivered'],
              ['', 'Either'],
            ]}
            {...field('webhook', usualWebhook)}
          />
        )}
        {action === 'replay' && (
          <Field
            label="Secret"
            type="password"
            value={secret}
            hint="The original secret was deleted."
            onInput={setSecret}
          />
        )}
        <p class="row">
          <button type="submit" disabled={isWorking}>
            Count
          </button>
          {counted !== null && counted.sum > 0 && !isWorking && (
            <button type="button" class="danger" onClick={() => act(counted)}>
              {words[counted.action](counted.sum)[0]}
            </button>
          )}
          {isWorking && (
            <button type="button" onClick={stop}>
              Stop
            </button>
          )}
        </p>
      </form>
      <p role="status">{message}</p>
      {failure !== null && <Failure of={failure} />}
    </section>
  )
}

/** @throws {RunledgerError} when the hours are not a valid number. */
function describe(action: Action, fields: Readonly<Record<string, string>>): BulkRequest {
  const { hours = '', webhook = usualWebhook, ...others } = fields
  const rest = { ...others, ...(action === 'replay' && { webhook }) }
  const given = Object.entries(rest).filter(([, value]) => value !== '')
  const reach = hours === '' ? 24 : Number(hours)
  if (!(reach > 0 && reach <= hoursMost)) {
    const message = `Hours back is a number up to ${hoursMost}.`
    throw new RunledgerError(0, { error: 'invalid_request', message }, null)
  }
  const since = new Date(Date.now() - reach * 3_600_000).toISOString()
  return {
    action,
    filter: { ...Object.fromEntries(given), since },
    // The campaign's name holds the filter and the hour, so that pressing twice repeats each submission once. No accepted field
    // makes the name too long.
    ...(action === 'rerun' && { campaign: `console ${given.join(' ')} ${since.slice(0, 13)}` }),
  }
}
