// Runs checkers in a thread, because sixteen million bytes take seconds, which would block the caller's event loop. There is
// one thread. It is started when it is needed, ended when it has been idle, and answers one question after the other.
import { Worker } from 'node:worker_threads'
import { untilAborted, withinSeconds } from '#abort'
import type { BuiltInChecker } from './checker.ts'
import type { Judgement } from './line.ts'

export interface CheckThread {
  /**
   * Does the same as `check` of checker.ts, in the thread.
   * @param signal ends the wait, and the thread if it works on this question; rejects with its reason.
   * @throws {Error} when the thread failed or did not answer in time. The outputs are then not judged, and a new thread answers
   * the next question.
   */
  check(
    checker: BuiltInChecker,
    output: Uint8Array,
    expected: Uint8Array,
    signal?: AbortSignal,
  ): Promise<Judgement>
}

export interface CheckThreadOptions {
  /** The file that the thread runs; thread.ts by default. */
  readonly file?: string
  readonly idleMilliseconds?: number
  /** Longest wait for one answer. Checkers are linear, so a thread that takes this long hangs. */
  readonly patienceMilliseconds?: number
}

/** A question to the thread: the arguments of `check`. */
export interface Question {
  readonly checker: BuiltInChecker
  readonly output: Uint8Array
  readonly expected: Uint8Array
}

/** Prepares a thread, which the first question starts. An idle thread does not keep the process alive. */
export function openCheckThread({
  file = `${import.meta.dirname}/thread.ts`,
  idleMilliseconds = 30_000,
  patienceMilliseconds = 300_000,
}: CheckThreadOptions = {}): CheckThread {
  let running: Worker | null = null
  let idle: NodeJS.Timeout | undefined
  let last: Promise<unknown> = Promise.resolve()

  function start(): Worker {
    // The thread must not get secrets from the environment, or options of a debugger.
    const thread = new Worker(file, { env: {}, execArgv: [] })
    // Without a listener an error between two questions would end the process.
    thread.on('error', () => {})
    thread.once('exit', () => {
      if (running === thread) running = null
    })
    return thread
  }

  function end(): void {
    void running?.terminate()
    running = null
  }

  async function ask(
    { checker, output, expected }: Question,
    signal?: AbortSignal,
  ): Promise<Judgement> {
    signal?.throwIfAborted()
    // Copies are transferred to the thread, because others may read the originals, and a part of a larger buffer would be
    // transferred with the whole buffer.
    const question = {
      checker,
      output: new Uint8Array(output),
      expected: new Uint8Array(expected),
    }
    clearTimeout(idle)
    const thread = (running ??= start())
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
      // An aborted caller does not wait for earlier questions.
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
  thread.once('message', resolve).once('error', reject).once('exit', onExit)
  return withinSeconds(
    (limited) => untilAborted(promise, limited),
    patienceMilliseconds / 1000,
    () => new Error('the thread does not answer'),
    signal,
  ).finally(() => thread.off('message', resolve).off('error', reject).off('exit', onExit))
}
