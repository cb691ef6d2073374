// Encodes and decodes the messages on a keeper's socket. conversation.ts checks when each may arrive.
import {
  nameSignal,
  outputFilesBytesMost,
  requireStartable,
  roundSeconds,
  SandboxError,
} from '#contract'
import type { Command, Evidence, PhaseRequest, Usage } from '#contract'
import { environment } from './host-root.ts'
import type { KeeperLaunch } from './launch.ts'
import * as structure from './structure.ts'

const kinds = {
  ready: 'r',
  output: 'o',
  errors: 'e',
  outputFile: 'l',
  result: 'x',
  settled: 's',
  refusal: 'n',
  failure: 'f',
  delayed: 'd',
  dying: 'q',
} as const
export type Kind = keyof typeof kinds
const kindsByNumber = new Map(
  Object.entries(kinds).map(([kind, letter]) => [letter.charCodeAt(0), kind as Kind]),
)
/** Bytes of the keeper's send buffer (channel.c). */
const longestFrame = 256 * 1024

export interface Frame {
  readonly kind: Kind
  readonly body: Buffer
  readonly rest: Buffer
}

/** Takes the first frame. @returns null while it is incomplete. @throws {Error} when it is malformed. */
export function takeFrame(bytes: Buffer): Frame | null {
  const { sizeBytes } = structure.frame
  if (bytes.length < sizeBytes) return null
  const head = structure.frame.decode(bytes.subarray(0, sizeBytes))
  const kind = kindsByNumber.get(head.kind)
  if (kind === undefined || head.length > longestFrame) throw new Error('a malformed message')
  const end = sizeBytes + head.length
  if (bytes.length < end) return null
  return { kind, body: bytes.subarray(sizeBytes, end), rest: bytes.subarray(end) }
}

/** Encodes `struct hello` and what follows it. */
export function encodeHello({
  group,
  filter,
  keeperFilter,
  layout,
  runtime,
  ownStreams = false,
  network = 'none',
}: KeeperLaunch): Buffer {
  const texts = runtime ? [runtime.awaits, ...runtime.argv, ...listVariables({})] : []
  const strings = encodeTexts(texts)
  const head = structure.hello.encode({
    kind: 'H'.charCodeAt(0),
    cgroup_version: Number(group.version.slice(1)),
    counts_swap: Number(group.countsSwap),
    shares_cpu: Number(group.sharesCpu),
    own_streams: Number(ownStreams),
    loopback: Number(network === 'loopback'),
    filter_bytes: filter.length,
    keeper_filter_bytes: keeperFilter.length,
    layout_bytes: layout.bytes.length,
    runtime_bytes: strings.length,
    runtime_arguments: runtime?.argv.length ?? 0,
    runtime_unlimited_stack: Number(runtime?.unlimitedStack === true),
  })
  return Buffer.concat([head, filter, keeperFilter, layout.bytes, strings])
}

export const stopMessage = structure.encodeNumbers(['A'.charCodeAt(0)])

const { CLD_EXITED, CLD_KILLED, CLD_DUMPED } = structure.endCode
const mebibyte = 1024 * 1024
const pageBytes = 4096

/**
 * Encodes `struct request` and what follows it.
 * @throws {SandboxError} when the keeper or the kernel would refuse the request.
 */
export function encodeRequest(request: PhaseRequest): Uint8Array[] {
  requireStartable(request, environment)
  const { command, limits, stdin = new Uint8Array(), outputFiles = [], cores = 1 } = request
  const variables = listVariables(command.environment)
  const strings = encodeTexts([...command.argv, ...variables])
  const fileBytes = command.files.reduce(
    (sum, { content }) => sum + Math.ceil(content.length / pageBytes) * pageBytes,
    0,
  )
  const scratchBytes = Math.ceil(limits.diskBytes)
  // Files do not count towards the disk limit. Rounded, so that the next box, which is made with the last size, often fits.
  const boxBytes = scratchBytes + Math.ceil(fileBytes / mebibyte) * mebibyte
  const head = structure.request.encode({
    kind: 'R'.charCodeAt(0),
    argument_bytes: strings.length,
    arguments: command.argv.length,
    variables: variables.length,
    files: command.files.length,
    processes: limits.processes,
    unlimited_stack: Number(command.unlimitedStack),
    merges_stderr: Number(request.mergesStderr === true),
    output_files: outputFiles.length,
    stdin_bytes: stdin.length,
    memory_bytes: Math.ceil(limits.memoryBytes),
    cpu_nanoseconds: Math.ceil(limits.cpuSeconds * 1e9),
    wall_nanoseconds: Math.ceil(limits.wallSeconds * 1e9),
    stdout_bytes: Math.ceil(limits.stdoutBytes),
    stderr_bytes: Math.ceil(limits.stderrBytes),
    box_bytes: boxBytes,
    scratch_bytes: scratchBytes,
    output_files_bytes: outputFilesBytesMost,
    cores_per_mille: Math.round(cores * 1000),
  })
  return [
    head,
    strings,
    ...command.files.flatMap(encodeFile),
    ...outputFiles.flatMap(encodeName),
    stdin,
  ]
}

function listVariables(further: Command['environment']): string[] {
  return Object.entries({ ...environment, ...further }).map(([name, value]) => `${name}=${value}`)
}

function encodeTexts(texts: readonly string[]): Buffer {
  return Buffer.from(texts.map((text) => `${text}\0`).join(''))
}

function encodeFile({ path, content, executable }: Command['files'][number]): Uint8Array[] {
  const name = Buffer.from(path.replace(/^\/box\//, ''))
  const head = structure.fileHead.encode({
    name_bytes: name.length,
    executable: Number(executable),
    size: content.length,
  })
  return [head, name, content]
}

function encodeName(name: string): Uint8Array[] {
  const bytes = Buffer.from(name)
  return [structure.encodeNumbers([bytes.length]), bytes]
}

export interface Result {
  /** Why the keeper ended the box; null when the box ended by itself. */
  readonly reason: Exclude<(typeof structure.reasons)[number], 'no_reason'> | null
  /** True when the slot may not be lent before the message `settled`. */
  readonly isUnsettled: boolean
  readonly exit: Evidence['exit']
  readonly usage: Usage
  readonly memoryKills: number
  readonly stdoutBytes: number
  readonly stderrBytes: number
}

/**
 * @param captured bytes of stdout and stderr that were kept before.
 * @throws {SandboxError} step `keeper.protocol` on a contradiction.
 */
export function decodeResult(body: Buffer, captured: readonly [number, number]): Result {
  if (body.length !== structure.result.sizeBytes)
    throw new SandboxError('keeper.protocol', 'the result has a wrong size')
  const {
    end_code: code,
    end_status: status,
    reason: number,
    delay_milliseconds: delay,
    unsettled,
    ...figures
  } = structure.result.decode(body)
  const named = structure.reasons[number]
  if (named === undefined)
    throw new SandboxError('keeper.protocol', 'the result has an unknown reason')
  const reason = named === 'no_reason' ? null : named
  const ended =
    (code === CLD_EXITED && status <= 255) ||
    ((code === CLD_KILLED || code === CLD_DUMPED) && status >= 1 && status <= 64)
  // A program that was killed with its box leaves no status, but then there is a reason.
  const vanished = code === 0 && status === 0 && (reason !== null || figures.memory_kills > 0)
  if (!ended && !vanished)
    throw new SandboxError('keeper.protocol', 'the result has an impossible end')
  const isPossible =
    unsettled <= 1 &&
    Object.values(figures).every(Number.isSafeInteger) &&
    figures.stdout_bytes >= captured[0] &&
    figures.stderr_bytes >= captured[1]
  if (!isPossible) throw new SandboxError('keeper.protocol', 'the result has impossible figures')
  return {
    reason,
    isUnsettled: unsettled === 1,
    exit: code === 0 ? null : describeExit(code, status),
    usage: {
      wallSeconds: roundSeconds(figures.wall_nanoseconds / 1e9),
      cpuSeconds: roundSeconds(figures.cpu_nanoseconds / 1e9),
      memoryPeakBytes: figures.memory_peak_bytes,
      ...(delay > 0 && { delaySeconds: delay / 1000 }),
    },
    memoryKills: figures.memory_kills,
    stdoutBytes: figures.stdout_bytes,
    stderrBytes: figures.stderr_bytes,
  }
}

function describeExit(code: number, status: number): Evidence['exit'] {
  if (code === CLD_EXITED) return { code: status, signal: null }
  const signal = nameSignal(128 + status)
  return { code: 128 + status, signal: signal ?? `SIG${status}` }
}
