// Encodes what a keeper needs to start, and its requests, as request.c reads them.
import { outputFilesBytesMost, requireStartable } from '#contract'
import type { Command, PhaseRequest } from '#contract'
import { environment } from './host-root.ts'
import type { KeeperLaunch } from './launch.ts'
import { encodeLine } from './message.ts'

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
