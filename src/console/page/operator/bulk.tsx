// Many at once: a filter, how many fit it, and only then the button that does it, to those and to none that came since.
import { RunledgerError } from '#client'
import type { JSX } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Failure } from '../failure.tsx'
import { count, verdictNames, verdicts } from '../format.ts'
import { Choice, TextField } from '../part.tsx'
import { runBulk } from './service.ts'
import type { BulkRequest } from './service.ts'

const actions = { cancel: 'Cancel', rerun: 'Run again', replay: 'Send webhooks again' } as const
type Action = keyof typeof actions

/** What was counted; `until`: nothing that came later is touched. */
interface Counted {
  readonly sum: number
  readonly until: string
}

export function Bulk(): JSX.Element {
  const id = useId()
  const [action, setAction] = useState<Action>('cancel')
  const [fields, setFields] = useState<Readonly<Record<string, string>>>({})
  const [secret, setSecret] = useState('')
  const [counted, setCounted] = useState<Counted | null>(null)
  const [told, setTold] = useState('')
  const [failure, setFailure] = useState<RunledgerError | null>(null)
  const working = useRef<AbortController | null>(null)
  const [isWorking, setWorking] = useState(false)
  useEffect(() => () => working.current?.abort(), [])

  // What was counted was another filter's.
  const change = (then: () => void): void => {
    setCounted(null)
    setTold('')
    then()
  }
  const field = (name: string) => ({
    value: fields[name] ?? '',
    onInput: (value: string) => change(() => setFields((before) => ({ ...before, [name]: value }))),
  })
  const describe = (): BulkRequest => {
    const { hours = '', ...rest } = fields
    const given = Object.entries(rest).filter(([, value]) => value !== '')
    const reach = Number(hours === '' ? '24' : hours)
    const since = new Date(Date.now() - (reach > 0 ? reach : 24) * 3_600_000).toISOString()
    return {
      action,
      filter: { ...Object.fromEntries(given), since },
      // One campaign an hour's filter: pressed twice, each is repeated once.
      ...(action === 'rerun' && { campaign: `console ${given.join(' ')} ${since.slice(0, 13)}` }),
      ...(action === 'replay' && secret !== '' && { secret }),
    }
  }
  const work = async (isDry: boolean): Promise<void> => {
    const aborter = new AbortController()
    working.current = aborter
    setWorking(true)
    setFailure(null)
    const request = describe()
    const until = isDry ? {} : { until: counted?.until ?? '' }
    let last = ''
    try {
      const asked = { ...request, filter: { ...request.filter, ...until } }
      const sum = await runBulk(asked, isDry, aborter.signal, (soFar, upTo) => {
        last = upTo
        setTold(`${count(soFar, 'submission')} so far`)
      })
      setTold(isDry ? `${count(sum, 'submission')} fit.` : `${actions[action]}: done to ${sum}.`)
      setCounted(isDry ? { sum, until: last } : null)
    } catch (error) {
      if (!aborter.signal.aborted) {
        if (!(error instanceof RunledgerError)) throw error
        setFailure(error)
        setCounted(null)
      }
    }
    setWorking(false)
  }
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>Many at once</h2>
      <form
        class="filters"
        aria-labelledby={id}
        onSubmit={(event) => {
          event.preventDefault()
          void work(true)
        }}
      >
        <Choice
          label="Action"
          value={action}
          options={Object.entries(actions)}
          onInput={(name) => change(() => setAction(name as Action))}
        />
        <TextField label="Account" {...field('account')} />
        <TextField label="Language" {...field('language')} />
        <Choice
          label="Verdict"
          options={[['', 'Any'], ...verdicts.map((name) => [name, verdictNames[name]] as const)]}
          {...field('verdict')}
        />
        <TextField label="Tag" {...field('tag')} />
        <TextField label="Hours back" inputMode="decimal" placeholder="24" {...field('hours')} />
        {action === 'replay' && (
          <p class="field">
            <label for={`${id}-secret`}>Secret</label>
            <input
              id={`${id}-secret`}
              type="password"
              value={secret}
              autocomplete="off"
              onInput={(event) => setSecret(event.currentTarget.value)}
            />
            <small class="hint">The one they had was deleted.</small>
          </p>
        )}
        <p class="row">
          <button type="submit" disabled={isWorking}>
            Count
          </button>
          {counted !== null && counted.sum > 0 && !isWorking && (
            <button type="button" class="danger" onClick={() => void work(false)}>
              {actions[action]}: {counted.sum}
            </button>
          )}
          {isWorking && (
            <button type="button" onClick={() => working.current?.abort()}>
              Stop
            </button>
          )}
        </p>
      </form>
      <p role="status">{told}</p>
      {failure !== null && <Failure of={failure} />}
    </section>
  )
}
