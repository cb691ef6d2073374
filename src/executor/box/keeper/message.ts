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

const kinds = [
  'ready',
  'stdout',
  'stderr',
  'file',
  'result',
  'settled',
  'refused',
  'failed',
  'delayed',
  'dying',
] as const
export type Kind = (typeof kinds)[number]

/** The keeper's longest line, and its send buffer (channel.c). */
const lineBytesMost = 1024
const bodyBytesMost = 256 * 1024

export interface Message {
  readonly kind: Kind
  readonly fields: ReadonlyMap<string, string>
  readonly body: Buffer
}

/** Takes the first message. @returns null while it is incomplete. @throws {Error} when it is malformed. */
export function takeMessage(bytes: Buffer): (Message & { readonly rest: Buffer }) | null {
  const lineBytes = bytes.indexOf('\n')
  if (lineBytes === -1 && bytes.length < lineBytesMost) return null
  const [word, ...pairs] = bytes.toString('latin1', 0, lineBytes).split(' ')
  const kind = kinds.find((name) => name === word)
  const fields = new Map(pairs.map((pair) => pair.split('=', 2) as [string, string]))
  const bodyBytes = fields.has('bytes') ? readNumber(fields, 'bytes') : 0
  if (lineBytes === -1 || kind === undefined || bodyBytes > bodyBytesMost)
    throw new Error('a malformed message')
  const begin = lineBytes + 1
  const end = begin + bodyBytes
  if (bytes.length < end) return null
  return { kind, fields, body: bytes.subarray(begin, end), rest: bytes.subarray(end) }
}

/** Reads a whole number of a message. @throws {SandboxError} step `keeper.protocol` when there is none. */
export function readNumber(fields: Message['fields'], name: string): number {
  const text = fields.get(name) ?? ''
  const number = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number))
    throw new SandboxError('keeper.protocol', `no number "${name}"`)
  return number
}

/** @param values whole numbers, in the order of message.h. */
function encodeLine(kind: string, values: Readonly<Record<string, number>> = {}): Buffer {
  const fields = Object.entries(values).map(([name, value]) => ` ${name}=${BigInt(value)}`)
  return Buffer.from(`${kind}${fields.join('')}\n`)
}

/** Encodes the first message. */
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
  const head = encodeLine('hello', {
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

export const stopMessage = encodeLine('stop')

const mebibyte = 1024 * 1024
const pageBytes = 4096

/**
 * Encodes a request.
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
  const head = encodeLine('request', {
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
  const head = encodeLine('file', {
    name_bytes: name.length,
    executable: Number(executable),
    size: content.length,
  })
  return [head, name, content]
}

function encodeName(name: string): Uint8Array[] {
  const bytes = Buffer.from(name)
  return [encodeLine('output_file', { name_bytes: bytes.length }), bytes]
}

/** Why a keeper ended a box. */
const reasons = [
  'cpu_limit',
  'wall_limit',
  'output_limit',
  'memory_limit',
  'aborted',
  'starved',
  'squeezed',
] as const

export interface Result {
  /** Null when the box ended by itself. */
  readonly reason: (typeof reasons)[number] | null
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
export function decodeResult(
  { fields }: Pick<Message, 'fields'>,
  captured: readonly [number, number],
): Result {
  const read = (name: string): number => readNumber(fields, name)
  const named = fields.get('reason')
  const reason = reasons.find((name) => name === named) ?? null
  if (reason === null && named !== 'none')
    throw new SandboxError('keeper.protocol', 'the result has an unknown reason')
  const exit = describeExit(fields.get('end'), read('status'))
  const memoryKills = read('memory_kills')
  // A program that was killed with its box leaves no status, but then there is a reason.
  if (exit === undefined || (exit === null && reason === null && memoryKills === 0))
    throw new SandboxError('keeper.protocol', 'the result has an impossible end')
  const [unsettled, delay] = [read('unsettled'), read('delay_milliseconds')]
  const [stdoutBytes, stderrBytes] = [read('stdout_bytes'), read('stderr_bytes')]
  if (unsettled > 1 || stdoutBytes < captured[0] || stderrBytes < captured[1])
    throw new SandboxError('keeper.protocol', 'the result has impossible figures')
  return {
    reason,
    isUnsettled: unsettled === 1,
    exit,
    usage: {
      wallSeconds: roundSeconds(read('wall_nanoseconds') / 1e9),
      cpuSeconds: roundSeconds(read('cpu_nanoseconds') / 1e9),
      memoryPeakBytes: read('memory_peak_bytes'),
      ...(delay > 0 && { delaySeconds: delay / 1000 }),
    },
    memoryKills,
    stdoutBytes,
    stderrBytes,
  }
}

/** @returns null for a program that left no status; undefined for an impossible end. */
function describeExit(end: string | undefined, status: number): Evidence['exit'] | undefined {
  if (end === 'none' && status === 0) return null
  if (end === 'exited' && status <= 255) return { code: status, signal: null }
  if (end !== 'killed' || status < 1 || status > 64) return undefined
  return { code: 128 + status, signal: nameSignal(128 + status) ?? `SIG${status}` }
}
