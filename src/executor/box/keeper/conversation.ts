// Starts a keeper and speaks with it: the worker's side of the protocol that keeper.c tells.
// What it says is believed only as far as it keeps to the protocol; anything else ends it, and is our failure.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { dropTo, environment } from '#bubblewrap'
import { beforeBegin, describe, NotBegunError, readCode, SandboxError } from '#contract'
import type { KeeperGroup } from '#cgroup'
import type { Captured, Evidence, PhaseRequest } from '#contract'
import { decodeResult, encodeHello, encodeKind, encodeRequest, takeFrame } from './message.ts'
import type { Hello, Kind, Result } from './message.ts'

/** What a keeper is started with. */
export interface KeeperLaunch extends Hello {
  readonly group: KeeperGroup
  /** Host uid of the slot; null: the worker's own. */
  readonly uid: number | null
  /** The keeper's program; or, with `interpreter`, the library that makes that one a keeper. */
  readonly program: string
  /** The interpreter's command line; null for a keeper that starts programs with exec. */
  readonly interpreter: readonly string[] | null
}

export interface Keeper {
  /** Bytes of memory that its interpreter holds and that count as each program's; 0 without one. */
  readonly shareBytes: number
  /** False once it has failed: it will never run anything again. */
  readonly alive: boolean
  /**
   * Runs one program; one at a time. Every process of the run is dead when it resolves, but for the box's own first one,
   * which is ending; what comes of that is told of before the next run.
   * @throws {NotBegunError} step `keeper.…` when the keeper has certainly failed before it let the program go; a
   * {SandboxError} when nobody knows; the signal's reason when it was aborted.
   */
  run(request: PhaseRequest, signal?: AbortSignal): Promise<Evidence>
  /**
   * Ends it; resolves when it has ended, or when a kill has had no effect for seconds: then the removal of its cgroup tells
   * that something is left.
   */
  close(): Promise<void>
}

/** How long the last words of a keeper that has ended are waited for. */
const lastWordsMilliseconds = 500
/** Longest time for a keeper to come up; a slow machine is no failure. */
const startMilliseconds = 30_000
/** What a keeper may take beyond the program's time: it gives up a box that will not die after five seconds, twice. */
const graceMilliseconds = 15_000
/** How long a keeper may take to end by itself, and then by a kill, which one that the kernel holds up does not hear. */
const closeMilliseconds = 1000
const killMilliseconds = 5000

// As in child.ts: the process that becomes the keeper enters the cgroup before anything else. It must outlive a program
// that eats all memory: its boxes raise their own score to 500, and where the worker may lower one, the keeper is not killed
// at all: when all of a box is dead, what its files held may still be charged.
const script = `
umask 022
unset PWD OLDPWD
ulimit -s unlimited 2>/dev/null || ulimit -s "$(ulimit -H -s)" || exit 125
{ echo -1000 >/proc/self/oom_score_adj; } 2>/dev/null || :
while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done
shift
exec "$@"`

const socketDescriptor = 3

/** @throws {SandboxError} step `keeper.start`, with the keeper's own words. */
export async function startKeeper(launch: KeeperLaunch): Promise<Keeper> {
  const child = spawnKeeper(launch)
  const socket = child.stdio[socketDescriptor]
  if (!(socket instanceof Socket)) throw new NotBegunError('keeper.start', 'no socket')
  const conversation = converse(child, socket)
  socket.write(encodeHello(launch))
  try {
    const answer = await conversation.expect('ready', startMilliseconds)
    return createKeeper(child, socket, conversation, Number(answer.readBigUInt64LE(0)))
  } catch (cause) {
    child.kill('SIGKILL')
    throw new NotBegunError('keeper.start', describe(cause), cause)
  }
}

/** Starts the process; what it says, and how it ends, is the caller's to see to. */
export function spawnKeeper({ group, uid, program, interpreter }: KeeperLaunch): ChildProcess {
  const own = openSync(program, 'r')
  try {
    const descriptors = [...group.descriptors, own]
    const path = `/proc/self/fd/${socketDescriptor + descriptors.length}`
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
    const command =
      interpreter === null
        ? ['env', '-i', path]
        : ['env', '-i', ...variables, `LD_PRELOAD=${path}`, ...interpreter]
    return spawn(
      '/bin/sh',
      [
        ['-c', script, 'sh', ...group.entrances, '--'],
        uid === null ? [] : dropTo(uid),
        command,
      ].flat(),
      {
        cwd: '/',
        env: { PATH: '/usr/bin:/bin' },
        stdio: ['ignore', 'ignore', 'pipe', 'pipe', ...descriptors],
      },
    )
  } finally {
    closeSync(own)
  }
}

interface Conversation {
  /** Resolves with the body of the next frame of this kind. @throws {SandboxError} whatever else happens. */
  expect(kind: Kind, patienceMilliseconds: number): Promise<Buffer>
  /** Called with each piece of output. */
  onOutput: (kind: 'output' | 'errors', bytes: Buffer) => void
  /** Sends a request. */
  ask(parts: readonly Uint8Array[]): void
  /** Tells it to give up what was asked for. */
  giveUp(): void
  /** Ends it for good; whoever expects something gets the error. */
  end(error: SandboxError): void
  readonly failed: () => SandboxError | null
}

/** Cuts what the keeper sends into frames. The first thing that does not fit ends it for good. */
function converse(child: ChildProcess, socket: Socket): Conversation {
  let rest: Buffer = Buffer.alloc(0)
  let words = ''
  let failure: SandboxError | null = null
  let awaited: { kind: Kind; resolve(body: Buffer): void; reject(error: unknown): void } | null =
    null
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    words = `${words}${text}`.slice(-2000)
  })

  function end(error: SandboxError): void {
    if (failure !== null) return
    failure = error
    child.kill('SIGKILL')
    socket.destroy()
    awaited?.reject(error)
    awaited = null
  }

  function take(kind: Kind, body: Buffer): void {
    isUnanswered = false
    if (kind === 'refusal') {
      end(new NotBegunError('keeper.failed', body.toString('utf8')))
    } else if (kind === 'failure') {
      end(new SandboxError('keeper.failed', body.toString('utf8')))
    } else if (kind === 'output' || kind === 'errors') {
      conversation.onOutput(kind, body)
    } else if (awaited?.kind === kind) {
      const { resolve } = awaited
      awaited = null
      resolve(body)
    } else {
      end(new SandboxError('keeper.protocol', `"${kind}" when nobody asked`))
    }
  }

  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (failure === null) {
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
  // The kernel tells who has written what was not read to its end; then the other side never had the whole of it.
  let isUnread = false
  /** From when something is asked until a word comes of it. */
  let isUnanswered = false
  socket.on('error', (error) => {
    const code = readCode(error)
    isUnread ||= isUnanswered && (code === 'EPIPE' || code === 'ECONNRESET')
  })
  // The exit is waited for: it says more than the socket's end. What it has said may still come; but not for long, as a
  // box that it left behind would hold the other ends.
  child.once('exit', (code, signal) => {
    const tell = (): void => {
      const Failure = isUnread ? NotBegunError : SandboxError
      end(new Failure('keeper.gone', `${words.trim()} (${signal ?? `status ${code}`})`))
    }
    child.once('close', tell)
    setTimeout(tell, lastWordsMilliseconds).unref()
  })
  child.once('error', (error) => end(new SandboxError('keeper.spawn', error.message, error)))

  const conversation: Conversation = {
    expect(kind, patienceMilliseconds) {
      if (failure !== null) return Promise.reject(failure)
      const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
      awaited = { kind, resolve, reject }
      const timer = setTimeout(
        () => end(new SandboxError('keeper.silent', `no "${kind}" in time`)),
        patienceMilliseconds,
      )
      return promise.finally(() => clearTimeout(timer))
    },
    onOutput() {
      end(new SandboxError('keeper.protocol', 'output without a run'))
    },
    ask(parts) {
      isUnanswered = true
      isUnread = !socket.writable
      socket.cork()
      for (const part of parts) socket.write(part)
      socket.uncork()
    },
    giveUp() {
      // This word may stay unread although the request was not.
      isUnanswered = false
      socket.write(encodeKind('A'))
    },
    end,
    failed: () => failure,
  }
  return conversation
}

function createKeeper(
  child: ChildProcess,
  socket: Socket,
  conversation: Conversation,
  shareBytes: number,
): Keeper {
  const exited = new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    else child.once('exit', () => resolve())
  })
  const refuse = conversation.onOutput
  /** A result that cannot be is the keeper's end, like any other nonsense. */
  function readResult(body: Buffer, ...lengths: readonly [number, number]): Result {
    try {
      return decodeResult(body, lengths)
    } catch (error) {
      const failure =
        error instanceof SandboxError ? error : new SandboxError('keeper.protocol', describe(error))
      conversation.end(failure)
      throw failure
    }
  }
  return {
    shareBytes,
    get alive() {
      return conversation.failed() === null
    },
    async run(request, signal) {
      signal?.throwIfAborted()
      const failure = conversation.failed()
      if (failure !== null) throw beforeBegin(failure)
      const { limits } = request
      const parts = encodeRequest(request)
      const stdout = collect(limits.stdoutBytes)
      const stderr = collect(request.stderrKeptBytes ?? limits.stderrBytes)
      conversation.onOutput = (kind, bytes) => (kind === 'output' ? stdout : stderr).add(bytes)
      const abort = (): void => conversation.giveUp()
      const answered = conversation.expect('result', limits.wallSeconds * 1000 + graceMilliseconds)
      conversation.ask(parts)
      signal?.addEventListener('abort', abort)
      try {
        const result = readResult(await answered, stdout.length(), stderr.length())
        if (result.reason === 'aborted') signal?.throwIfAborted()
        const { reason, wallSeconds, cpuSeconds, memoryPeakBytes } = result
        return {
          reason: reason === 'aborted' ? null : reason,
          outOfMemoryKills: result.memoryKills,
          usage: { wallSeconds, cpuSeconds, memoryPeakBytes },
          stdout: stdout.captured(result.stdoutBytes, limits.stdoutBytes),
          stderr: stderr.captured(result.stderrBytes, limits.stderrBytes),
          exit: result.exit,
        }
      } finally {
        signal?.removeEventListener('abort', abort)
        conversation.onOutput = refuse
      }
    },
    async close() {
      socket.end()
      const { promise: givenUp, resolve } = Promise.withResolvers<void>()
      const timers = [
        setTimeout(() => child.kill('SIGKILL'), closeMilliseconds),
        setTimeout(resolve, closeMilliseconds + killMilliseconds),
      ]
      await Promise.race([exited, givenUp])
      for (const timer of timers) clearTimeout(timer)
      socket.destroy()
    },
  }
}

/** Gathers the pieces of an output, at most `keptBytes` of them. */
function collect(keptBytes: number): {
  add(bytes: Buffer): void
  /** Bytes kept so far. */
  length(): number
  captured(receivedBytes: number, limitBytes: number): Captured
} {
  const pieces: Buffer[] = []
  let length = 0
  return {
    add(bytes) {
      const taken = bytes.subarray(0, keptBytes - length)
      if (taken.length === 0) return
      pieces.push(taken)
      length += taken.length
    },
    length: () => length,
    captured(receivedBytes, limitBytes) {
      // A copy: the pieces lie in the socket's buffers, which are many times as large.
      const bytes = Buffer.concat(pieces)
      return { bytes, truncated: receivedBytes > length, passed: receivedBytes > limitBytes }
    },
  }
}
