// Spawns bubblewrap and hands it what a box is made of: its options, the filter and files by descriptors, and the ones on
// which it tells the box's pid and waits. The one place that knows the descriptors; child.ts and the doctor start boxes here.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { Writable } from 'node:stream'
import type { Readable } from 'node:stream'
import type { Command, HostPath } from '#contract'
import { buildArguments } from './arguments.ts'
import type { RootEntry } from './arguments.ts'

/** What is to be spawned. */
export interface BoxSpawn {
  /** The command line that becomes bubblewrap; its last word is bubblewrap itself. */
  readonly launcher: readonly string[]
  readonly command: Pick<Command, 'argv' | 'files' | 'environment'>
  readonly root: readonly RootEntry[]
  readonly paths: readonly HostPath[]
  readonly diskBytes: number
  readonly filter: Buffer
  /** stdin, stdout and stderr. */
  readonly standard: readonly (number | 'pipe')[]
  /** What the box waits at for a byte before it runs the program. */
  readonly block: number | 'pipe'
  /** Descriptors that would reach the program uninvited (inherited-descriptors.ts). */
  readonly inherited: readonly number[]
  /** A descriptor of /dev/null, which takes their places. */
  readonly emptyDescriptor: number
}

export interface SpawnedBox {
  readonly process: ChildProcess
  /** Host pid of the box's first process; null when bubblewrap ended before there was one. */
  readonly boxPid: Promise<number | null>
  /** Resolves at the end of what bubblewrap tells, with the program's exit status; null when it told none. */
  readonly exitStatus: Promise<number | null>
  /** The same as far as it is known now. */
  readExitStatus(): number | null
  /** Writes to the pipe that the box waits at. */
  letGo(): void
  /** Closes our ends but that of the status: its last line may still be unread. */
  closePipes(): void
}

const optionsDescriptor = 3
const filterDescriptor = 4
const statusDescriptor = 5
/** What the box waits at before its program's first instruction. */
export const blockDescriptor = 6

/** Never throws for what bubblewrap meets: how its process ends tells. */
export function spawnBox(box: BoxSpawn): SpawnedBox {
  const { command, filter } = box
  const files = command.files.map(({ path, executable }, index) => ({
    descriptor: blockDescriptor + 1 + index,
    path,
    executable,
  }))
  const { root, paths, diskBytes } = box
  const descriptors = { filterDescriptor, statusDescriptor, blockDescriptor }
  const further = command.environment === undefined ? {} : { environment: command.environment }
  const options = buildArguments({ root, paths, files, diskBytes, ...further, ...descriptors })
  const { stdio, strangers } = planDescriptors(box, blockDescriptor + 1 + files.length)
  const [program = '', ...words] = [
    ...box.launcher,
    '--args',
    String(optionsDescriptor),
    // bubblewrap reads arguments from a descriptor to its end and closes it: here none, from an empty file.
    ...strangers.flatMap((descriptor) => ['--args', String(descriptor)]),
    '--',
    ...command.argv,
  ]
  // The program can read this environment in /proc/1/environ.
  const child = spawn(program, words, { cwd: '/', env: { PATH: '/usr/bin:/bin' }, stdio })
  // Who dies early closes these; its end and its words say why.
  const streams: readonly (Readable | Writable | null | undefined)[] = child.stdio
  for (const stream of streams) stream?.on('error', () => {})
  const send = (descriptor: number, bytes: Uint8Array | string): void => {
    const stream = streams[descriptor]
    if (stream instanceof Writable) stream.end(bytes)
  }
  send(optionsDescriptor, options.map((option) => `${option}\0`).join(''))
  send(filterDescriptor, filter)
  for (const [index, { content }] of command.files.entries())
    send(blockDescriptor + 1 + index, content)

  const { boxPid, closed, readExit } = readStatus(streams[statusDescriptor])
  return {
    process: child,
    boxPid,
    exitStatus: closed,
    readExitStatus: readExit,
    letGo: () => send(blockDescriptor, 'g'),
    closePipes() {
      for (const [descriptor, stream] of streams.entries())
        if (descriptor >= optionsDescriptor && descriptor !== statusDescriptor) stream?.destroy()
    },
  }
}

/** @param count of descriptors that the box is given. */
function planDescriptors(
  { standard, block, inherited, emptyDescriptor }: BoxSpawn,
  count: number,
): { readonly stdio: (number | 'pipe' | 'ignore')[]; readonly strangers: readonly number[] } {
  const stdio: (number | 'pipe' | 'ignore')[] = [...standard]
  while (stdio.length < count) stdio.push('pipe')
  stdio[blockDescriptor] = block
  const strangers = inherited.filter((descriptor) => descriptor >= count)
  for (const descriptor of strangers) {
    while (stdio.length < descriptor) stdio.push('ignore')
    stdio[descriptor] = emptyDescriptor
  }
  return { stdio, strangers }
}

/** bubblewrap writes one JSON object a line: `child-pid` at once, `exit-code` only if the program was started. */
function readStatus(stream: Readable | Writable | null | undefined): {
  readonly boxPid: Promise<number | null>
  readonly closed: Promise<number | null>
  /** What has come of it by now. */
  readonly readExit: () => number | null
} {
  const boxPid = Promise.withResolvers<number | null>()
  const closed = Promise.withResolvers<number | null>()
  let text = ''
  stream?.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    const match = /"child-pid": (\d+)/.exec(text)
    if (match !== null) boxPid.resolve(Number(match[1]))
  })
  const readExit = (): number | null => {
    const match = /"exit-code": (\d+)/.exec(text)
    return match === null ? null : Number(match[1])
  }
  const finish = (): void => {
    boxPid.resolve(null)
    closed.resolve(readExit())
  }
  if (stream === null || stream === undefined) finish()
  else stream.once('close', finish)
  return { boxPid: boxPid.promise, closed: closed.promise, readExit }
}
