// Loads postgres.js with two faults of its own mended (3.4.9, its issues 1154 and 1208, no release has the remedy), and with a pool
// that asks whom it asked last. A small write waits for the next turn of the event loop. If the connection closes meanwhile,
// - the write that waits is called off but stays noted as waiting, so that no small write of this connection is ever sent
//   again: each of its later attempts to connect runs into the time limit;
// - a write that comes then throws where nobody can catch it, which ends the process.
// Of its idle connections a pool asks the one that has rested longest, so that a lone client goes through all of them. What the
// server's process has in the processor's caches is gone then: a submission that runs nothing takes an eighth longer (docs/decisions/0010).
// The driver's public interface reaches none of it, so its source is changed while it is loaded: here alone, before any other
// module has it. A release in which the places read otherwise is refused, and test/database/driver.test.ts goes red.
import { registerHooks } from 'node:module'

type Change = readonly [text: string, instead: string]

const changes: Readonly<Record<string, readonly Change[]>> = {
  'connection.js': [
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
  ],
  'index.js': [
    [
      'open = Queue()',
      `open = Object.assign([], {
        shift: Array.prototype.pop,
        remove(c) {
          const at = this.indexOf(c)
          if (at >= 0) this.splice(at, 1)
        },
      })`,
    ],
  ],
}

const hooks = registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    const wanted = changes[/\/postgres\/src\/([^/]+)$/u.exec(url)?.[1] ?? '']
    if (wanted === undefined) return loaded
    const source = Buffer.from(loaded.source as string | Uint8Array).toString()
    return { ...loaded, source: change(source, wanted) }
  },
})

/** The driver. */
export const { default: postgres } = await import('postgres')
hooks.deregister()

/** @throws when the source is another than the one that the changes were made for. */
function change(source: string, wanted: readonly Change[]): string {
  return wanted.reduce((text, [from, to]) => {
    if (text.split(from).length !== 2)
      throw new Error('this release of postgres.js has not been looked at: see driver.ts')
    return text.replace(from, () => to)
  }, source)
}
