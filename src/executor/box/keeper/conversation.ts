// The worker's side of the protocol in channel.c. A message that breaks the protocol ends the keeper, and is a failure of the
// sandbox.
import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { describe, NotStartedError, readCode, SandboxError } from '#contract'
import { stopMessage, takeMessage } from './message.ts'
import type { Message } from './message.ts'

export interface Conversation {
  /**
   * Passes messages to `take` until it returns an answer. Until the next call no message may arrive.
   * @param take returns undefined for other messages. Throws on an impossible or unexpected one.
   * @throws {SandboxError} on such a message, a timeout, or the keeper's exit.
   */
  receive<T>(patienceMilliseconds: number, take: (message: Message) => T | undefined): Promise<T>
  ask(parts: readonly Uint8Array[]): void
  /** Stops the run. */
  giveUp(): void
  readonly failed: () => SandboxError | null
  /** Resolves with the error that has ended the conversation. */
  readonly ended: Promise<SandboxError>
}

interface Receiver {
  readonly take: (message: Message) => void
  readonly reject: (error: unknown) => void
}

/** How long the worker waits for the rest of stderr after a keeper has exited. */
const lastWordsMilliseconds = 500

/** The conversation ends at the first impossible or unexpected message. */
export function converse(child: ChildProcess, socket: Socket): Conversation {
  let failure: SandboxError | null = null
  let receiver: Receiver | null = null
  const sending = watchSending(socket)
  const { promise: ended, resolve: resolveEnd } = Promise.withResolvers<SandboxError>()

  function end(error: SandboxError): void {
    if (failure !== null) return
    failure = error
    child.kill('SIGKILL')
    socket.destroy()
    receiver?.reject(error)
    receiver = null
    resolveEnd(error)
  }

  function take(message: Message): void {
    const { kind, body } = message
    sending.isUnanswered = false
    if (kind === 'refused') throw new NotStartedError('keeper.failed', body.toString('utf8'))
    if (kind === 'failed') throw new SandboxError('keeper.failed', body.toString('utf8'))
    if (receiver === null) throw unexpected(message)
    receiver.take(message)
  }

  cutMessages(socket, { end, failed: () => failure }, take)
  watchEnd(child, end, sending)
  return {
    receive<T>(patienceMilliseconds: number, read: (message: Message) => T | undefined) {
      if (failure !== null) return Promise.reject(failure)
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      const timer = setTimeout(
        () => end(new SandboxError('keeper.silent', 'it did not answer in time')),
        patienceMilliseconds,
      )
      const own: Receiver = {
        take(message) {
          const answer = read(message)
          // The keeper is not late if the program's wall time was extended.
          if (message.kind === 'delayed') timer.refresh()
          if (answer === undefined) return
          if (receiver === own) receiver = null
          resolve(answer)
        },
        reject,
      }
      receiver = own
      return promise.finally(() => clearTimeout(timer))
    },
    ask(parts) {
      sending.isUnanswered = true
      sending.isUnread = !socket.writable
      socket.cork()
      for (const part of parts) socket.write(part)
      socket.uncork()
    },
    giveUp() {
      // The stop message may stay unread although the request was read.
      sending.isUnanswered = false
      socket.write(stopMessage)
    },
    failed: () => failure,
    ended,
  }
}

/** Returns the error for a message that may not arrive now. */
export function unexpected({ kind }: Message): Error {
  return new Error(`unexpected message "${kind}"`)
}

interface Sending {
  /** No message has arrived since the last request. */
  isUnanswered: boolean
  /** The request was certainly not read to its end. */
  isUnread: boolean
  /** The socket's first error. After it the keeper has lost the worker, too. */
  failure: string | null
}

/** EPIPE: the keeper had exited before. ECONNRESET: it exited with bytes unread. */
function watchSending(socket: Socket): Sending {
  const sending: Sending = { isUnanswered: false, isUnread: false, failure: null }
  socket.on('error', (error) => {
    const code = readCode(error)
    sending.failure ??= error.message
    sending.isUnread ||= sending.isUnanswered && (code === 'EPIPE' || code === 'ECONNRESET')
  })
  return sending
}

/** @param take throws when the message ends the conversation. */
function cutMessages(
  socket: Socket,
  { end, failed }: { end(error: SandboxError): void; failed(): SandboxError | null },
  take: (message: Message) => void,
): void {
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    try {
      while (failed() === null) {
        const message = takeMessage(rest)
        if (message === null) return
        rest = message.rest
        take(message)
      }
    } catch (error) {
      const isKnown = error instanceof SandboxError
      end(isKnown ? error : new SandboxError('keeper.protocol', describe(error)))
    }
  })
}

/**
 * Reports the keeper's exit, which says more than its socket's end. The wait for the rest of stderr is short, because a box
 * that is left holds the pipe open.
 */
function watchEnd(child: ChildProcess, end: (error: SandboxError) => void, sending: Sending): void {
  let words = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    words = `${words}${text}`.slice(-2000)
  })
  child.once('exit', (code, signal) => {
    const report = (): void => {
      const Failure = sending.isUnread ? NotStartedError : SandboxError
      const how = [signal ?? `status ${code}`, sending.failure].filter(Boolean).join('; ')
      end(new Failure('keeper.gone', `${words.trim()} (${how})`))
    }
    child.once('close', report)
    setTimeout(report, lastWordsMilliseconds).unref()
  })
  child.once('error', (error) => end(new SandboxError('keeper.spawn', error.message, error)))
}
