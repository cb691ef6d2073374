// Visibility, with a stub for the browser's document.
import t from 'tap'
import { whileVisible } from '../../src/console/page/screen.ts'

const page = Object.assign(new EventTarget(), { visibilityState: 'visible' })
Object.assign(globalThis, { document: page })
const turn = (state: string): void => {
  page.visibilityState = state
  page.dispatchEvent(new Event('visibilitychange'))
}
const settle = (): Promise<void> => new Promise((done) => setImmediate(done))

/** Starts work that ends when the test ends it. */
function begin(signal: AbortSignal): {
  readonly begun: AbortSignal[]
  readonly ended: Promise<string>
  end(): void
} {
  const begun: AbortSignal[] = []
  let end = (): void => {}
  const ended = whileVisible(signal, (shown) => {
    begun.push(shown)
    return new Promise<string>((resolve, reject) => {
      end = () => resolve('done')
      shown.addEventListener('abort', () => reject(shown.reason as Error))
    })
  })
  return { begun, ended, end: () => end() }
}

t.test('what is hidden waits, and begins anew when it shows', async (t) => {
  turn('hidden')
  const work = begin(new AbortController().signal)
  await settle()
  t.equal(work.begun.length, 0)
  turn('visible')
  await settle()
  t.equal(work.begun.length, 1)
  turn('hidden')
  await settle()
  t.ok(work.begun[0]?.aborted)
  turn('visible')
  await settle()
  t.equal(work.begun.length, 2)
  work.end()
  t.equal(await work.ended, 'done')
  turn('hidden')
  t.notOk(work.begun[1]?.aborted, 'what has ended is let be')
  turn('visible')
})

t.test('who leaves ends it, hidden or not', async (t) => {
  for (const state of ['visible', 'hidden']) {
    const leaving = new AbortController()
    const work = begin(leaving.signal)
    turn(state)
    await settle()
    leaving.abort(new Error('left'))
    await t.rejects(work.ended, { message: 'left' }, state)
    turn('visible')
  }
})

t.test('what fails has failed', async (t) => {
  const failing = whileVisible(new AbortController().signal, () => Promise.reject(new Error('no')))
  await t.rejects(failing, { message: 'no' })
})
