// Loads postgres.js with two faults of its own mended (3.4.9, its issues 1154 and 1208, no release has the remedy). A small
// write waits for the next turn of the event loop. If the connection closes meanwhile,
// - the write that waits is called off but stays noted as waiting, so that no small write of this connection is ever sent
//   again: each of its later attempts to connect runs into the time limit;
// - a write that comes then throws where nobody can catch it, which ends the process.
// The driver's public interface reaches neither, so its source is changed while it is loaded: here alone, before any other
// module has it. A release in which the places read otherwise is refused, and test/database/driver.test.ts goes red.
import { registerHooks } from 'node:module'

const changes: readonly (readonly [text: string, instead: string])[] = [
  [
    'clearImmediate(nextWriteTimer)\n    socket',
    'clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = null\n    socket',
  ],
  [
    'clearImmediate(nextWriteTimer)\n    if (socket)',
    'clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = null\n    if (socket)',
  ],
  [
    'function nextWrite(fn) {\n',
    `function nextWrite(fn) {
    if (socket === null) {
      clearImmediate(nextWriteTimer)
      chunk = nextWriteTimer = null
      error(Errors.connection('CONNECTION_CLOSED', options, socket))
      return false
    }
`,
  ],
]

const hooks = registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    if (!url.endsWith('/postgres/src/connection.js')) return loaded
    const source = Buffer.from(loaded.source as string | Uint8Array).toString()
    return { ...loaded, source: mend(source) }
  },
})

/** The driver. */
export const { default: postgres } = await import('postgres')
hooks.deregister()

/** @throws when the source is another than the one that the changes were made for. */
function mend(source: string): string {
  return changes.reduce((text, [from, to]) => {
    if (text.split(from).length !== 2)
      throw new Error('this release of postgres.js has not been looked at: see driver.ts')
    return text.replace(from, () => to)
  }, source)
}
