// The busiest accounts: what their keys use of what they may.
import type { BusyAccount } from '#client'
import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import { formatBytes } from '../format.ts'
import { Visible } from '../output.tsx'
import { formatUse, isUsedUp } from './words.ts'

export function Accounts({ of }: { readonly of: readonly BusyAccount[] }): JSX.Element {
  const id = useId()
  const heads = [
    'Account',
    'Waiting',
    'Slots busy',
    'Key',
    'Tier',
    'Admitted',
    'Requests/min',
    'Uploads',
  ]
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>Accounts</h2>
      {of.length === 0 ? (
        <p class="empty">No account has unfinished submissions.</p>
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
              </tr>
            </thead>
            <tbody>
              {of.flatMap(({ id: account, name, waiting, running, blob_bytes: stored, keys }) =>
                keys.map((key, index) => (
                  <tr key={`${account} ${key.id}`}>
                    <th scope="row">
                      <Visible text={name} />
                    </th>
                    <td>{index === 0 ? waiting : ''}</td>
                    <td>{index === 0 ? running : ''}</td>
                    <td>
                      <code>{key.label}…</code>
                    </td>
                    <td>
                      <Visible text={key.tier} />
                    </td>
                    <td class={isUsedUp(key.admitted, key.concurrent_executions) ? 'full' : ''}>
                      {formatUse(key.admitted, key.concurrent_executions)}
                    </td>
                    <td class={isUsedUp(key.requests, key.requests_per_minute) ? 'full' : ''}>
                      {key.requests_per_minute === null
                        ? 'no limit'
                        : formatUse(key.requests, key.requests_per_minute)}
                    </td>
                    <td class={isUsedUp(stored, key.blob_bytes) ? 'full' : ''}>
                      {formatBytes(stored)}
                      {key.blob_bytes !== null && ` of ${formatBytes(key.blob_bytes)}`}
                    </td>
                  </tr>
                )),
              )}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
