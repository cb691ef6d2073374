// Follows a submission to its end: by its stream, which is reopened when it breaks, or by polling when the service has no room
// for another stream. A hidden page receives nothing.
import { RunledgerError, openStream } from '#client'
import type { Result, StreamEvent } from '#client'
import { pause } from '#client-retry'
import { noteRefusal, persist, reach, send } from './call.ts'
import { advance, nothingYet } from './live.ts'
import type { Live } from './live.ts'
import { whileVisible } from './screen.ts'
import { isFinal, resultPath } from './service.ts'
import { key } from './session.ts'

/** The pause before a stream is opened again. */
const pauseMilliseconds = 500
/** How many streams in a row may bring nothing, such as through a proxy that buffers or cuts them. */
const vainMost = 2

/**
 * Reports the state so far, at most once a frame.
 * @returns the record of the submission's end.
 */
export async function watch(
  id: string,
  signal: AbortSignal,
  update: (live: Live) => void,
): Promise<Result> {
  const path = resultPath(id)
  let live = nothingYet
  let position: string | undefined
  let frame: number | null = null
  const note = (next: Live): void => {
    live = next
    frame ??= requestAnimationFrame(() => {
      frame = null
      if (!signal.aborted) update(live)
    })
  }

  /** @returns the record, or null when the connection ended before the submission. */
  async function follow(events: AsyncGenerator<StreamEvent, void>): Promise<Result | null> {
    for await (const event of events) {
      position = event.position
      if (event.event === 'result') return event.data
      note(advance(live, event))
    }
    return null
  }

  async function ask(shown: AbortSignal): Promise<Result | null> {
    const record = await reach<Result>('GET', `${path}?wait=true`, { signal: shown })
    if (isFinal(record)) return record
    note({ ...live, status: record.status === 'queued' ? 'queued' : 'running' })
    return null
  }

  try {
    return await whileVisible(signal, async (shown) => {
      for (let vain = 0; ;) {
        const before = position
        const isWorthIt = vain < vainMost
        const events = isWorthIt ? await persist(shown, () => open(path, position, shown)) : null
        const end = await (events === null ? ask(shown) : follow(events).catch(passOver(shown)))
        if (end !== null) return end
        vain = events === null || position !== before ? 0 : vain + 1
        await pause(pauseMilliseconds, shown)
      }
    })
  } finally {
    if (frame !== null) cancelAnimationFrame(frame)
  }
}

/** Opens a stream. @returns null when no stream is available or no event follows; polling shows the rest. */
async function open(
  path: string,
  position: string | undefined,
  signal: AbortSignal,
): Promise<AsyncGenerator<StreamEvent, void> | null> {
  const apiKey = key.get()
  try {
    return await openStream(
      (headers, until) => send('GET', `${path}/stream`, { headers, signal: until, apiKey }),
      position,
      signal,
    )
  } catch (error) {
    noteRefusal(error, apiKey)
    if (error instanceof RunledgerError && [429, 503].includes(error.status)) return null
    throw error
  }
}

/** Ignores a broken connection, which is reopened. */
function passOver(shown: AbortSignal): (error: unknown) => null {
  return (error) => {
    shown.throwIfAborted()
    if (error instanceof RunledgerError) return null
    throw error
  }
}
