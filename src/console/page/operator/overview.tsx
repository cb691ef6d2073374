// The overview of the whole service, the longest wait first. It is read each second while the page is visible.
import type { Overview } from '#client'
import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import { Failure } from '../failure.tsx'
import { verdictNames } from '../format.ts'
import { Fact, Mark } from '../part.tsx'
import { formatRoute } from '../route.ts'
import type { Behind, ServiceRoute } from '../route.ts'
import { Table } from '../table.tsx'
import { useFollowed } from '../work.ts'
import { Accounts } from './accounts.tsx'
import { LookUp } from './behind.tsx'
import { Bulk } from './bulk.tsx'
import { Charts } from './charts.tsx'
import { followOverview } from './service.ts'
import { Sought } from './sought.tsx'
import { formatAge, formatPercentiles, formatRate, judgeLedger } from './words.ts'
import { Verify } from './verify.tsx'
import { Workers } from './workers.tsx'

export function OverviewView({ route }: { readonly route: ServiceRoute }): JSX.Element {
  const { value: overview, failure } = useFollowed(followOverview, [])
  return (
    <div class="service">
      <h1>Service</h1>
      {failure !== null && <Failure of={failure} />}
      <LookUp route={route} />
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
            <Sought text={oldest.id} shown={oldest.language} /> of{' '}
            {oldest.account === null ? '?' : <Sought text={oldest.account} />}
          </small>
        )}
      </Fact>
      <Fact name="Waiting for a worker">
        {linkPart('languages', load.queued)}{' '}
        <small>oldest {formatAge(load.oldest_queued_seconds)}</small>
      </Fact>
      <Fact name="Waiting for their key’s limit">{linkPart('accounts', load.waiting)}</Fact>
      <Fact name="Running">
        {linkList('running', load.running)} <small>of {load.slots} slots</small>
      </Fact>
      <Fact name="Arrivals per second">
        {linkPart('hours', formatRate(recent.received, recent.seconds))}{' '}
        <small>last {formatAge(recent.seconds)}</small>
      </Fact>
      <Fact name="Ends per second">
        {linkPart('hours', formatRate(recent.ended, recent.seconds))}{' '}
        <small>last {formatAge(recent.seconds)}</small>
      </Fact>
      <Fact name="Wait p50 / p95 / p99">{formatPercentiles(recent.waited)}</Fact>
      <Fact name="Run time p50 / p95 / p99">{formatPercentiles(recent.ran)}</Fact>
      <Fact name="Total time p50 / p95 / p99">{formatPercentiles(recent.took)}</Fact>
      <Fact name="Verdicts">
        {verdicts.length === 0
          ? '–'
          : verdicts.map(([name, n]) => `${nameVerdict(name)} ${n}`).join(', ')}
      </Fact>
      <Fact name="Requests that this process refused">
        {refused.length === 0 ? '–' : refused.map(([code, n]) => `${code} ${n}`).join(', ')}
      </Fact>
      <Fact name="Webhooks due">{linkList('webhooks', load.deliveries_pending)}</Fact>
    </dl>
  )
}

/** Links to the list that a figure counts. */
function linkList(what: Behind, figure: number): JSX.Element {
  return <a href={formatRoute({ view: 'service', show: what })}>{figure}</a>
}

/** Scrolls to the part of this view that a figure sums up, without changing the address, which names the view. */
function linkPart(id: string, figure: number | string): JSX.Element {
  return (
    <a
      href={formatRoute({ view: 'service' })}
      onClick={(event) => {
        event.preventDefault()
        document.querySelector(`#${id}`)?.scrollIntoView()
      }}
    >
      {figure}
    </a>
  )
}

function nameVerdict(name: string): string {
  return Object.hasOwn(verdictNames, name) ? verdictNames[name as keyof typeof verdictNames] : name
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
          Found in{' '}
          {ledger.suspects.map((one) => (
            <>
              <Sought text={one} />{' '}
            </>
          ))}
          : <code>runledger audit ID</code> has more.
        </p>
      )}
    </section>
  )
}

function Languages({ of: { languages } }: { readonly of: Overview }): JSX.Element {
  const id = useId()
  return (
    <section id="languages" aria-labelledby={id}>
      <h2 id={id}>Languages</h2>
      <Table
        heading={id}
        rows={languages}
        empty="Nothing waits or runs."
        keyOf={({ language }) => language}
        columns={[
          { head: 'Language', draw: ({ language }) => language },
          { head: 'Waiting', isFigure: true, draw: ({ waiting }) => waiting },
          { head: 'Of these low', isFigure: true, draw: ({ low }) => low },
          { head: 'Slots busy', isFigure: true, draw: ({ running }) => running },
          {
            head: 'Oldest',
            isFigure: true,
            draw: (one) => (one.waiting === 0 ? '' : formatAge(one.oldest_seconds)),
          },
        ]}
      />
    </section>
  )
}
