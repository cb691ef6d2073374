// Checks in a thread of its own: sixteen million bytes take seconds, in which whoever asks has other things to do. There is one
// thread, which is started when it is needed and ended when it has been idle; it answers one question after the other.
import { Worker } from 'node:worker_threads'
import { untilAborted } from '#abort'
import type { BuiltInChecker } from './checker.ts'
import type { Judgement } from './judgement.ts'

export interface CheckThread {
  /**
   * As `check`.
   * @throws {Error} when the thread failed or did not answer in time: nothing is known of the outputs then. Another one
   * answers the next question. The signal's reason when that ends the wait, and with it the thread.
   */
  check(
    checker: BuiltInChecker,
    output: Uint8Array,
    expected: Uint8Array,
    signal?: AbortSignal,
  ): Promise<Judgement>
}

export interface CheckThreadOptions {
  /** The file that it runs; its own unless said. */
  readonly file?: string
  readonly idleMilliseconds?: number
  /** For one answer. A checker is linear: what takes so long is not at work. */
  readonly patienceMilliseconds?: number
}

/** What the thread is asked. */
export interface Question {
  readonly checker: BuiltInChecker
  readonly output: Uint8Array
  readonly expected: Uint8Array
}

/** Starts nothing yet. The thread does not keep its process alive while nothing is asked. */
export function openCheckThread({
  file = `${import.meta.dirname}/thread.ts`,
  idleMilliseconds = 30_000,
  patienceMilliseconds = 300_000,
}: CheckThreadOptions = {}): CheckThread {
  let standing: Worker | null = null
  let idle: NodeJS.Timeout | undefined
  let last: Promise<unknown> = Promise.resolve()

  function start(): Worker {
    // Neither secrets of the environment nor options of a debugger are its business.
    const thread = new Worker(file, { env: {}, execArgv: [] })
    // Without a listener an error between two questions would end the process.
    thread.on('error', () => {})
    thread.once('exit', () => {
      if (standing === thread) standing = null
    })
    return thread
  }

  function end(): void {
    void standing?.terminate()
    standing = null
  }

  async function ask(
    { checker, output, expected }: Question,
    signal?: AbortSignal,
  ): Promise<Judgement> {
    signal?.throwIfAborted()
    // Copies, which are given away: others may read the originals, and a part of a larger buffer would take all of it along.
    const question = {
      checker,
      output: new Uint8Array(output),
      expected: new Uint8Array(expected),
    }
    clearTimeout(idle)
    const thread = (standing ??= start())
    thread.ref()
    try {
      thread.postMessage(question, [question.output.buffer, question.expected.buffer])
      return await awaitAnswer(thread, patienceMilliseconds, signal)
    } catch (error) {
      end()
      throw error
    } finally {
      thread.unref()
      idle = setTimeout(end, idleMilliseconds).unref()
    }
  }

  return {
    check(checker, output, expected, signal) {
      const asked = last.then(() => ask({ checker, output, expected }, signal))
      last = asked.catch(() => {})
      // Others' questions before it are not waited for.
      return untilAborted(asked, signal)
    },
  }
}

function awaitAnswer(
  thread: Worker,
  patienceMilliseconds: number,
  signal: AbortSignal | undefined,
): Promise<Judgement> {
  const { promise, resolve, reject } = Promise.withResolvers<Judgement>()
  const onExit = (status: number): void => reject(new Error(`the thread ended with ${status}`))
  const onSilence = (): void => reject(new Error('the thread does not answer'))
  const onAbort = (): void => reject(signal?.reason)
  const timer = setTimeout(onSilence, patienceMilliseconds)
  signal?.addEventListener('abort', onAbort)
  thread.once('message', resolve).once('error', reject).once('exit', onExit)
  return promise.finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
    thread.off('message', resolve).off('error', reject).off('exit', onExit)
  })
}
