// A keeper's process on the worker's side: its start, its runs and its end.
import type { ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { asNotStarted, describe, NotStartedError, SandboxError } from '#contract'
import type { Evidence, PhaseRequest } from '#contract'
import { collectOutput, collectOutputFiles } from './collect-output.ts'
import { converse, unexpected } from './conversation.ts'
import type { Conversation } from './conversation.ts'
import { socketDescriptor, spawnKeeper } from './launch.ts'
import type { KeeperLaunch } from './launch.ts'
import type { Kind, Message } from './message.ts'
import { encodeHello, encodeRequest } from './request.ts'
import { decodeResult } from './result.ts'
import type { Result } from './result.ts'

export interface Keeper {
  /** False when the keeper has failed. It then runs nothing more. */
  readonly alive: boolean
  /** Resolves when the keeper has failed. */
  readonly failed: Promise<unknown>
  /**
   * Null unless the last run left more charged to the slot than the next run may find, such as names that the kernel caches.
   * Resolves when the slot may be lent, or the keeper has failed.
   */
  readonly settling: Promise<void> | null
  /** The program's stdin and stdout. Only the run reports their failures. @throws unless the launch has `ownStreams`. */
  readonly streams: { readonly input: Writable; readonly output: Readable }
  /**
   * Runs one program at a time. When it resolves, only the box's init may still be ending. If init does not end, the next run
   * reports that.
   * @throws {NotStartedError} step `keeper.…` when the program certainly did not begin; {SandboxError} when that is
   * unknown; the signal's reason when aborted.
   */
  run(request: PhaseRequest, signal?: AbortSignal): Promise<Evidence>
  /** Resolves when the keeper has ended, or has outlived a kill for seconds. Removing its cgroup then fails. */
  close(): Promise<void>
}

/** How long a start may take: long, because a slow machine is not a failure. */
const startMilliseconds = 30_000
/** How long a result may take beyond the wall limit. The keeper waits five seconds for a box to die, twice. */
const graceMilliseconds = 15_000
/** After this time beyond the wall limit, without delays, the keeper may wait for the quota that it shares with its box. */
const lateMilliseconds = 1000
/** How long a slot may take to settle: some 4 GiB of names took 20 s. After that its keeper and cgroup are replaced. */
const settleMilliseconds = 600_000
/** How long the keeper may take to end by itself, and then by a kill. A kill waits while a process hangs in the kernel. */
const closeMilliseconds = 1000
const killMilliseconds = 5000

/** @throws {NotStartedError} step `keeper.start`, with the keeper's message. */
export async function startKeeper(launch: KeeperLaunch): Promise<Keeper> {
  const child = spawnKeeper(launch)
  // Without a free descriptor, Node returns a child that has no streams, and emits the error later.
  const { stdio } = child as Partial<ChildProcess>
  const socket = stdio?.[socketDescriptor]
  if (!(socket instanceof Socket)) {
    child.once('error', () => {})
    throw new NotStartedError('keeper.start', 'no socket')
  }
  const conversation = converse(child, socket)
  socket.write(encodeHello(launch))
  try {
    await conversation.receive(startMilliseconds, expectWord('ready'))
    return createKeeper(child, socket, conversation, launch.group.liftQuota)
  } catch (cause) {
    child.kill('SIGKILL')
    throw new NotStartedError('keeper.start', describe(cause), cause)
  }
}

function createKeeper(
  child: ChildProcess,
  socket: Socket,
  conversation: Conversation,
  liftQuota: () => void,
): Keeper {
  const exited = new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    else child.once('exit', () => resolve())
  })
  const { stdin: input, stdout: output } = child
  for (const stream of [input, output]) stream?.on('error', () => {})
  let settling: Promise<void> | null = null
  return {
    get alive() {
      return conversation.failed() === null
    },
    failed: conversation.ended,
    get streams() {
      if (!input || !output) throw new Error('the keeper has no streams of its own')
      return { input, output }
    },
    get settling() {
      return settling
    },
    async run(request, signal) {
      await settling
      return run(conversation, request, signal, liftQuota, (settled) => {
        settling = settled.then(() => void (settling = null))
      })
    },
    async close() {
      for (const stream of [input, output]) stream?.destroy()
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

async function run(
  conversation: Conversation,
  request: PhaseRequest,
  signal: AbortSignal | undefined,
  liftQuota: () => void,
  onUnsettled: (settled: Promise<unknown>) => void,
): Promise<Evidence> {
  signal?.throwIfAborted()
  const failure = conversation.failed()
  if (failure !== null) throw asNotStarted(failure)
  const { limits } = request
  const outputs = {
    stdout: collectOutput(limits.stdoutBytes),
    stderr: collectOutput(request.stderrKeptBytes ?? limits.stderrBytes),
  }
  const outputFiles = collectOutputFiles(request.outputFiles ?? [])
  const late = setTimeout(liftQuota, limits.wallSeconds * 1000 + lateMilliseconds)
  const take = (message: Message): Result | undefined => {
    const { kind, body } = message
    if (kind === 'stdout' || kind === 'stderr') {
      outputs[kind].add(body)
      request.tap?.note()
    } else if (kind === 'file') outputFiles.add(message)
    else if (kind === 'dying') liftQuota()
    else if (kind === 'delayed') late.refresh()
    else return read(message)
    return undefined
  }
  const read = (message: Message): Result => {
    if (message.kind !== 'result') throw unexpected(message)
    const result = decodeResult(message, [outputs.stdout.length(), outputs.stderr.length()])
    if (!result.isUnsettled) return result
    // This message may arrive together with the result. If the keeper fails instead, its place replaces it.
    const settled = conversation.receive(settleMilliseconds, expectWord('settled'))
    onUnsettled(settled.catch(() => {}))
    return result
  }
  const giveUp = (): void => {
    conversation.giveUp()
    liftQuota()
  }
  try {
    request.tap?.open({ read: (output, from, most) => outputs[output].read(from, most) })
    const parts = encodeRequest(request)
    const patience = limits.wallSeconds * 1000 + graceMilliseconds
    const answered = conversation.receive(patience, take)
    conversation.ask(parts)
    signal?.addEventListener('abort', giveUp)
    request.stop?.addEventListener('abort', giveUp)
    if (request.stop?.aborted === true) giveUp()
    const result = await answered
    if (result.reason === 'aborted') signal?.throwIfAborted()
    const { reason, usage } = result
    if (reason === 'starved') {
      const words = `the program got no processor for ${usage.delaySeconds} s`
      throw new SandboxError('box.starved', words)
    }
    if (reason === 'squeezed') {
      const words = 'the kernel killed a process of the box, which was below its memory limit'
      throw new SandboxError('box.memory', words)
    }
    return {
      reason: reason === 'aborted' ? 'cancelled' : reason,
      outOfMemoryKills: result.memoryKills,
      usage,
      stdout: outputs.stdout.captured(result.stdoutBytes, limits.stdoutBytes),
      stderr: outputs.stderr.captured(result.stderrBytes, limits.stderrBytes),
      exit: result.exit,
      ...(request.outputFiles && { outputFiles: outputFiles.list() }),
    }
  } finally {
    clearTimeout(late)
    signal?.removeEventListener('abort', giveUp)
    request.stop?.removeEventListener('abort', giveUp)
    request.tap?.close()
  }
}

/** Accepts only this message, which must have no fields. */
function expectWord(kind: Kind): (message: Message) => true {
  return (message) => {
    if (message.kind !== kind || message.fields.size > 0) throw unexpected(message)
    return true
  }
}
