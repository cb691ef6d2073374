// Shows a bug of the page itself, so that nobody waits for a view that will not come.
import { Component } from 'preact'
import type { ComponentChildren, JSX } from 'preact'
import { createStore, useStore } from './store.ts'

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
