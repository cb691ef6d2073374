// A mistake of the page itself: it is shown, so that nobody waits for a view that will not come.
import { Component } from 'preact'
import type { ComponentChildren, JSX } from 'preact'
import { createStore, useStore } from './store.ts'

/** What nobody caught, in its own words; null: nothing so far. */
const fault = createStore<string | null>(null)

addEventListener('error', ({ error, message }) => fault.set(describe(error ?? message)))
addEventListener('unhandledrejection', ({ reason }) => fault.set(describe(reason)))

export function Fault(): JSX.Element | null {
  const message = useStore(fault)
  return message === null ? null : <FaultMessage message={message} />
}

/** In place of a view that cannot be drawn; the frame around it stays. */
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
