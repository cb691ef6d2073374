// Shows failures: why the service refused a request, in the service's words, and a bug of the page itself, so that nobody waits
// for a view that will not come.
import type { RunledgerError } from '#client'
import { Component } from 'preact'
import type { ComponentChildren, JSX } from 'preact'
import { nameField } from './limit-field.ts'
import { createStore, useStore } from './store.ts'

/** Shows everything that is wrong with a request at once. */
export function Failure({ of }: { readonly of: RunledgerError }): JSX.Element {
  return (
    <div class="failure" role="alert">
      {of.issues.length === 0 ? (
        <p>{of.message}</p>
      ) : (
        <ul>
          {of.issues.map(({ path, message }) => (
            <li key={path}>
              {nameField(path) ?? <code>{path}</code>} {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** The message of an uncaught error; null: there was none. */
const fault = createStore<string | null>(null)

addEventListener('error', ({ error, message }) => fault.set(describe(error ?? message)))
addEventListener('unhandledrejection', ({ reason }) => fault.set(describe(reason)))

export function Fault(): JSX.Element | null {
  const message = useStore(fault)
  return message === null ? null : <FaultMessage message={message} />
}

/** Shows a message in place of a view that cannot be drawn. The frame around the view stays. */
export class Boundary extends Component<
  { readonly children: ComponentChildren },
  { readonly message: string | null }
> {
  override state = { message: null }

  override componentDidCatch(error: unknown): void {
    // eslint-disable-next-line no-console -- its stack is for who mends it
    console.error(error)
    this.setState({ message: describe(error) })
  }

  override render(): ComponentChildren {
    const { message } = this.state
    return message === null ? this.props.children : <FaultMessage message={message} />
  }
}

function FaultMessage({ message }: { readonly message: string }): JSX.Element {
  return (
    <div class="failure" role="alert">
      <p>
        The page has failed: {message}. What you wrote is kept.{' '}
        <button type="button" onClick={() => location.reload()}>
          Reload
        </button>
      </p>
    </div>
  )
}

function describe(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason)
}
