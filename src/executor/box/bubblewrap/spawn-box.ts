// Spawns bubblewrap and hands it a box's parts on descriptors; for child.ts and the doctor.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { Writable } from 'node:stream'
import type { Readable } from 'node:stream'
import type { Command, HostPath } from '#contract'
import { buildArguments } from './arguments.ts'
import type { RootEntry } from './arguments.ts'

export interface BoxSpawn {
  /** The command line that becomes bubblewrap; its name comes last. */
  readonly launcher: readonly string[]
  readonly command: Pick<Command, 'argv' | 'files' | 'environment'>
  readonly root: readonly RootEntry[]
  readonly paths: readonly HostPath[]
  readonly diskBytes: number
  readonly filter: Buffer
  /** stdin, stdout and stderr. */
  readonly standard: readonly (number | 'pipe')[]
  /** The box waits here for a byte. */
  readonly block: number | 'pipe'
  /** Descriptors to keep from the program (inherited-descriptors.ts). */
  readonly inherited: readonly number[]
  /** /dev/null, put in their place. */
  readonly emptyDescriptor: number
}

export interface SpawnedBox {
  readonly process: ChildProcess
  /** Host pid of the box's first process; null when there was none. */
  readonly boxPid: Promise<number | null>
  /** The program's status; null when bubblewrap told none. Resolves when its status pipe closes. */
  readonly exitStatus: Promise<number | null>
  /** Null while it is unknown. */
  readExitStatus(): number | null
  letGo(): void
  /** Closes our ends, except the status pipe, whose last line may be unread. */
  closePipes(): void
}

const optionsDescriptor = 3
const filterDescriptor = 4
const statusDescriptor = 5
export const blockDescriptor = 6

/** Never throws: bubblewrap's exit tells. */
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
    // Makes bubblewrap read the descriptor, which is empty, and close it.
    ...strangers.flatMap((descriptor) => ['--args', String(descriptor)]),
    '--',
    ...command.argv,
  ]
  // Programs can read this in /proc/1/environ.
  const child = spawn(program, words, { cwd: '/', env: { PATH: '/usr/bin:/bin' }, stdio })
  // A child's early death breaks these pipes; exit and stderr say why.
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

/** @param count of the box's own descriptors. */
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
