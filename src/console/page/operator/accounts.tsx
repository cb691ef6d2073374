// The busiest accounts, and how much of their limits their keys use.
import type { BusyAccount } from '#client'
import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import { formatBytes } from '../format.ts'
import { Visible } from '../output.tsx'
import { Table } from '../table.tsx'
import { Sought } from './sought.tsx'
import { formatUse, isUsedUp } from './words.ts'

type Key = BusyAccount['keys'][number]
/** A row for each key. Figures of the account are shown only in the row of its first key. */
type Line = Readonly<{ account: BusyAccount; apiKey: Key; isFirst: boolean }>

const full = (isFull: boolean): string => (isFull ? 'full' : '')

export function Accounts({ of }: { readonly of: readonly BusyAccount[] }): JSX.Element {
  const id = useId()
  const lines = of.flatMap((account) =>
    account.keys.map((apiKey, index): Line => ({ account, apiKey, isFirst: index === 0 })),
  )
  return (
    <section id="accounts" aria-labelledby={id}>
      <h2 id={id}>Accounts</h2>
      <Table<Line>
        heading={id}
        rows={lines}
        empty="No account has unfinished submissions."
        keyOf={({ account, apiKey }) => `${account.id} ${apiKey.id}`}
        columns={[
          { head: 'Account', draw: ({ account }) => <Sought text={account.name} /> },
          { head: 'Waiting', draw: ({ account, isFirst }) => (isFirst ? account.waiting : '') },
          {
            head: 'Slots busy',
            draw: ({ account, isFirst }) => (isFirst ? account.running : ''),
          },
          {
            head: 'Key',
            draw: ({ apiKey: { label, name } }) => (
              <>
                <Sought text={label} shown={`${label}…`} />{' '}
                {name !== null && <Visible text={name} />}
              </>
            ),
          },
          { head: 'Tier', draw: ({ apiKey }) => <Visible text={apiKey.tier} /> },
          {
            head: 'Admitted',
            draw: ({ apiKey }) => formatUse(apiKey.admitted, apiKey.concurrent_executions),
            mark: ({ apiKey }) => full(isUsedUp(apiKey.admitted, apiKey.concurrent_executions)),
          },
          {
            head: 'Requests/min',
            draw: ({ apiKey }) =>
              apiKey.requests_per_minute === null
                ? 'no limit'
                : formatUse(apiKey.requests, apiKey.requests_per_minute),
            mark: ({ apiKey }) => full(isUsedUp(apiKey.requests, apiKey.requests_per_minute)),
          },
          {
            head: 'Uploads',
            draw: ({ account, apiKey }) =>
              `${formatBytes(account.blob_bytes)}${apiKey.blob_bytes === null ? '' : ` of ${formatBytes(apiKey.blob_bytes)}`}`,
            mark: ({ account, apiKey }) => full(isUsedUp(account.blob_bytes, apiKey.blob_bytes)),
          },
        ]}
      />
    </section>
  )
}
