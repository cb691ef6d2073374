// The worker's side of the protocol in channel.c. Whatever breaks it ends the keeper and is our failure.
import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { NotStartedError, readCode, SandboxError } from '#contract'
import { stopMessage, takeFrame } from './message.ts'
import type { Kind } from './message.ts'

/** What a run leaves before its result. */
export type Output = Extract<Kind, 'output' | 'errors' | 'outputFile'>

export interface Conversation {
  /**
   * Resolves with the body of the next frame of this kind.
   * @throws {SandboxError} whatever else happens.
   */
  expect(kind: Kind, patienceMilliseconds: number): Promise<Buffer>
  /** Null: none may come. */
  onOutput: ((kind: Output, bytes: Buffer) => void) | null
  /** The slot of a run that is over is settled; null: it may not be said. */
  onSettled: (() => void) | null
  ask(parts: readonly Uint8Array[]): void
  /** Stops the run. */
  giveUp(): void
  /** Kills the keeper; what is expected rejects with the error. */
  end(error: SandboxError): void
  readonly failed: () => SandboxError | null
  /** Resolves with what has ended it. */
  readonly ended: Promise<SandboxError>
}

interface Awaited {
  readonly kind: Kind
  readonly resolve: (body: Buffer) => void
  readonly reject: (error: unknown) => void
  /** Begins the wait for it anew. */
  readonly postpone: () => void
}

/** How long an ended keeper's last words are waited for. */
const lastWordsMilliseconds = 500

/** Ends at the first frame that does not fit. */
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

  function take(kind: Kind, body: Buffer): void {
    sending.isUnanswered = false
    const { onOutput, onSettled } = conversation
    if (kind === 'refusal') {
      end(new NotStartedError('keeper.failed', body.toString('utf8')))
    } else if (kind === 'failure') {
      end(new SandboxError('keeper.failed', body.toString('utf8')))
    } else if ((kind === 'output' || kind === 'errors' || kind === 'outputFile') && onOutput) {
      onOutput(kind, body)
    } else if (kind === 'delayed' && awaited?.kind === 'result') {
      awaited.postpone()
    } else if (kind === 'settled' && onSettled) {
      onSettled()
    } else if (awaited?.kind === kind) {
      const { resolve } = awaited
      awaited = null
      resolve(body)
    } else {
      end(new SandboxError('keeper.protocol', `"${kind}" when nobody asked`))
    }
  }

  const conversation: Conversation = {
    expect(kind, patienceMilliseconds) {
      if (failure !== null) return Promise.reject(failure)
      const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
      const timer = setTimeout(
        () => end(new SandboxError('keeper.silent', `no "${kind}" in time`)),
        patienceMilliseconds,
      )
      awaited = { kind, resolve, reject, postpone: () => void timer.refresh() }
      return promise.finally(() => clearTimeout(timer))
    },
    onOutput: null,
    onSettled: null,
    ask(parts) {
      sending.isUnanswered = true
      sending.isUnread = !socket.writable
      socket.cork()
      for (const part of parts) socket.write(part)
      socket.uncork()
    },
    giveUp() {
      // This message may stay unread though the request was read.
      sending.isUnanswered = false
      socket.write(stopMessage)
    },
    end,
    failed: () => failure,
    ended,
  }
  cutFrames(socket, conversation, take)
  watchEnd(child, end, sending)
  return conversation
}

interface Sending {
  /** Asked, and nothing heard since. */
  isUnanswered: boolean
  /** The request was certainly not read to its end. */
  isUnread: boolean
  /** The socket's own failure, by which the keeper loses the worker. */
  failure: string | null
}

/** EPIPE: the keeper had gone before. ECONNRESET: it went with bytes unread. */
function watchSending(socket: Socket): Sending {
  const sending: Sending = { isUnanswered: false, isUnread: false, failure: null }
  socket.on('error', (error) => {
    const code = readCode(error)
    sending.failure ??= error.message
    sending.isUnread ||= sending.isUnanswered && (code === 'EPIPE' || code === 'ECONNRESET')
  })
  return sending
}

function cutFrames(
  socket: Socket,
  { end, failed }: Conversation,
  take: (kind: Kind, body: Buffer) => void,
): void {
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (failed() === null) {
      const taken = takeFrame(rest)
      if (taken === 'partial') return
      if (taken === 'nonsense') {
        end(new SandboxError('keeper.protocol', 'nonsense'))
      } else {
        rest = taken.rest
        take(taken.kind, taken.body)
      }
    }
  })
}

/** The exit says more than the socket's end. Last words get a short while: a box left behind holds the pipes open. */
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
