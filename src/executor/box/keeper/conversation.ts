// The worker's side of the protocol in channel.c. A message that breaks the protocol ends the keeper, and is a failure of the
// sandbox.
import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { describe, NotStartedError, readCode, SandboxError } from '#contract'
import { stopMessage, takeMessage } from './message.ts'
import type { Kind, Message } from './message.ts'

export interface Conversation {
  /**
   * Resolves with what `read` makes of the next message of this kind.
   * @throws {SandboxError} on an impossible or unexpected message, a timeout, or the keeper's exit.
   */
  expect<T>(kind: Kind, patienceMilliseconds: number, read: (message: Message) => T): Promise<T>
  /** What else may arrive now. A function that throws has got an impossible message. */
  listeners: Partial<Record<Kind, (message: Message) => void>>
  ask(parts: readonly Uint8Array[]): void
  /** Stops the run. */
  giveUp(): void
  /** Kills the keeper. The promise of `expect` rejects with the error. */
  end(error: SandboxError): void
  readonly failed: () => SandboxError | null
  /** Resolves with the error that has ended the conversation. */
  readonly ended: Promise<SandboxError>
}

interface Awaited {
  readonly kind: Kind
  readonly answer: (message: Message) => void
  readonly reject: (error: unknown) => void
  /** Restarts the timeout. */
  readonly postpone: () => void
}

/** How long the worker waits for the rest of stderr after a keeper has exited. */
const lastWordsMilliseconds = 500

/** The conversation ends at the first impossible or unexpected message. */
export function converse(child: ChildProcess, socket: Socket): Conversation {
  let failure: SandboxError | null = null
  let awaited: Awaited | null = null
  const sending = watchSending(socket)
  const { promise: ended, resolve: resolveEnd } = Promise.withResolvers<SandboxError>()

  function end(error: SandboxError): void {
    if (failure !== null) return
    failure = error
    child.kill('SIGKILL')
    socket.destroy()
    awaited?.reject(error)
    awaited = null
    resolveEnd(error)
  }

  function take(message: Message): void {
    const { kind, body } = message
    sending.isUnanswered = false
    const listener = conversation.listeners[kind]
    if (kind === 'refused') throw new NotStartedError('keeper.failed', body.toString('utf8'))
    else if (kind === 'failed') throw new SandboxError('keeper.failed', body.toString('utf8'))
    else if (kind === 'delayed' && awaited?.kind === 'result') {
      awaited.postpone()
      listener?.(message)
    } else if (awaited?.kind === kind) awaited.answer(message)
    else if (listener) listener(message)
    else throw new Error(`unexpected message "${kind}"`)
  }

  const conversation: Conversation = {
    expect<T>(kind: Kind, patienceMilliseconds: number, read: (message: Message) => T) {
      if (failure !== null) return Promise.reject(failure)
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      const timer = setTimeout(
        () => end(new SandboxError('keeper.silent', `no message "${kind}" in time`)),
        patienceMilliseconds,
      )
      const answer = (message: Message): void => {
        resolve(read(message))
        awaited = null
      }
      awaited = { kind, answer, reject, postpone: () => void timer.refresh() }
      return promise.finally(() => clearTimeout(timer))
    },
    listeners: {},
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
    end,
    failed: () => failure,
    ended,
  }
  cutMessages(socket, conversation, take)
  watchEnd(child, end, sending)
  return conversation
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
  { end, failed }: Conversation,
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
