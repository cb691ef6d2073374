// Which requests may take longer to arrive than all others: those whose handler has a clock of its own for them.
import type { IncomingMessage } from 'node:http'

const longer = new WeakSet<IncomingMessage>()

/** From now on the transport leaves the request alone, and its caller ends it. */
export function takeOverClock(request: IncomingMessage): void {
  longer.add(request)
}

/** True until the request is complete. */
export function mayTakeLonger(request: IncomingMessage): boolean {
  return longer.has(request) && !request.complete
}
