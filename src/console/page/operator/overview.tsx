// The whole service at one look, what has waited longest first. It asks each second while somebody can see it.
import type { Overview } from '#client'
import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'
import { Failure } from '../failure.tsx'
import { verdictNames } from '../format.ts'
import { Visible } from '../output.tsx'
import { Mark } from '../part.tsx'
import { Accounts } from './accounts.tsx'
import { Bulk } from './bulk.tsx'
import { Charts } from './charts.tsx'
import { useSeen } from './seen.ts'
import { followOverview } from './service.ts'
import { formatAge, formatPercentiles, formatRate, judgeLedger } from './words.ts'
import { Verify } from './verify.tsx'
import { Workers } from './workers.tsx'

export function OverviewView(): JSX.Element {
  const { value: overview, failure } = useSeen(followOverview)
  return (
    <div class="service">
      <h1>Service</h1>
      {failure !== null && <Failure of={failure} />}
      {overview !== null && (
        <>
          <Figures of={overview} />
          <Charts />
          <Ledger of={overview} />
          <Workers of={overview.workers} mayOrder={!overview.read_only} />
          <Languages of={overview} />
          <Accounts of={overview.accounts} />
          {!overview.read_only && <Bulk />}
        </>
      )}
    </div>
  )
}

function Figures({ of }: { readonly of: Overview }): JSX.Element {
  const { oldest, load, recent, refusals } = of
  const verdicts = Object.entries(recent.verdicts)
  const refused = Object.entries(refusals.counts)
  return (
    <dl class="facts figures">
      <Fact name="Oldest waiting">
        <strong class="oldest">{oldest === null ? 'none' : formatAge(oldest.seconds)}</strong>
        {oldest !== null && (
          <small>
            {oldest.language} of <Visible text={oldest.account ?? '?'} />
          </small>
        )}
      </Fact>
      <Fact name="Waiting for a worker">
        {load.queued} <small>oldest {formatAge(load.oldest_queued_seconds)}</small>
      </Fact>
      <Fact name="Waiting for their key’s limit">{load.waiting}</Fact>
      <Fact name="Running">
        {load.running} <small>of {load.slots} slots</small>
      </Fact>
      <Fact name="In and out">
        {formatRate(recent.received, recent.seconds)}, {formatRate(recent.ended, recent.seconds)}{' '}
        <small>last {formatAge(recent.seconds)}</small>
      </Fact>
      <Fact name="Waited, p50 / p95 / p99">{formatPercentiles(recent.waited)}</Fact>
      <Fact name="Ran">{formatPercentiles(recent.ran)}</Fact>
      <Fact name="In all">{formatPercentiles(recent.took)}</Fact>
      <Fact name="Verdicts">
        {verdicts.length === 0
          ? '–'
          : verdicts.map(([name, n]) => `${nameVerdict(name)} ${n}`).join(', ')}
      </Fact>
      <Fact name="Refused by this process">
        {refused.length === 0 ? '–' : refused.map(([code, n]) => `${code} ${n}`).join(', ')}
      </Fact>
      <Fact name="Webhooks due">{load.deliveries_pending}</Fact>
    </dl>
  )
}

function nameVerdict(name: string): string {
  return Object.hasOwn(verdictNames, name) ? verdictNames[name as keyof typeof verdictNames] : name
}

function Fact({
  name,
  children,
}: {
  readonly name: string
  readonly children: ComponentChildren
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Ledger({
  of: { ledger, at, read_only: isReadOnly },
}: {
  readonly of: Overview
}): JSX.Element {
  const id = useId()
  const { tone, text } = judgeLedger(ledger, at)
  const word = { good: 'Intact', fault: 'Damaged', bad: 'Damaged', none: 'Unknown' }[tone]
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>Ledger</h2>
      <p>
        <Mark tone={tone} word={word} /> {text}
      </p>
      {!isReadOnly && <Verify />}
      {ledger.suspects.length > 0 && (
        <p>
          Found in <code>{ledger.suspects.join(' ')}</code>: <code>runledger audit ID</code> tells
          more.
        </p>
      )}
    </section>
  )
}

function Languages({ of: { languages } }: { readonly of: Overview }): JSX.Element {
  const id = useId()
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>Languages</h2>
      {languages.length === 0 ? (
        <p class="empty">Nothing waits or runs.</p>
      ) : (
        <div class="scroll" tabIndex={0} role="group" aria-labelledby={id}>
          <table class="list">
            <thead>
              <tr>
                {['Language', 'Waiting', 'Of these low', 'Slots busy', 'Oldest'].map(
                  (name, column) => (
                    <th key={name} scope="col" class={column === 0 ? '' : 'figure'}>
                      {name}
                    </th>
                  ),
                )}
              </tr>
            </thead>
            <tbody>
              {languages.map((one) => (
                <tr key={one.language}>
                  <th scope="row">{one.language}</th>
                  <td class="figure">{one.waiting}</td>
                  <td class="figure">{one.low}</td>
                  <td class="figure">{one.running}</td>
                  <td class="figure">{one.waiting === 0 ? '' : formatAge(one.oldest_seconds)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
