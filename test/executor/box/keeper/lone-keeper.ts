// Keepers outside an executor, for tests that talk to a keeper directly or put another program in its place.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import type { PhaseRequest, Slot } from '#contract'
import { buildKeeper } from '../../../../src/executor/box/keeper/build.ts'
import { encodeLayout } from '../../../../src/executor/box/keeper/host-root.ts'
import { startKeeper } from '../../../../src/executor/box/keeper/keeper-process.ts'
import type { Keeper } from '../../../../src/executor/box/keeper/keeper-process.ts'
import { createKeeperBoxes } from '../../../../src/executor/box/keeper/keeper.ts'
import type { KeeperLaunch } from '../../../../src/executor/box/keeper/launch.ts'
import { openCgroupParent } from '../../../../src/executor/cgroup/cgroup.ts'
import type { CgroupParent, KeeperGroup } from '../../../../src/executor/cgroup/cgroup.ts'
import { nameWorkerGroup } from '../../../../src/executor/cgroup/worker-group.ts'
import { assembleFilters } from '../../../../src/executor/seccomp/seccomp.ts'
import { makeDirectory } from '../../../helper/directory.ts'
import { firstUid, keeperDirectory } from '../../../helper/executor.ts'

/** Compiler options with which the keeper ends, with a report, at the first thing that C does not allow. */
export const sanitizers = ['-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all']

/**
 * The same for the library that makes an interpreter a keeper; the interpreter then dies of SIGILL. The address sanitizer
 * is left out because it must be loaded before everything else.
 */
export const traps = ['-g', '-fsanitize=undefined', '-fsanitize-undefined-trap-on-error']

/** The command line of a keeper that forks. */
export const interpreter = ['/usr/bin/python3', 'main.py'] as const

/**
 * Returns a function that prepares launches of keepers, each with its own cgroup. All are removed when the test ends.
 * @param resident command line of an interpreter that becomes the keeper.
 */
export async function openLaunches(
  t: Test,
  further: readonly string[] = [],
  resident: readonly string[] | null = null,
): Promise<(name: string, program?: string) => Promise<KeeperLaunch>> {
  const programs = await buildKeeper(keeperDirectory, further)
  const built = resident === null ? programs.program : programs.forkLibrary
  const cgroups = await openCgroupParent(nameWorkerGroup())
  t.teardown(() => cgroups.close())
  const filters = assembleFilters().none
  const layout = encodeLayout()
  const uid = process.getuid?.() === 0 ? firstUid : null
  return async (name, program = built) => {
    const group = await cgroups.createForKeeper(name, uid)
    return {
      group,
      uid,
      ...filters,
      layout,
      program,
      ...(resident && { interpreter: resident }),
    }
  }
}

/** Starts a keeper. It and its cgroup are gone when the test ends. @param options as those of `openLaunches`. */
export async function startLoneKeeper(
  t: Test,
  options: {
    readonly program?: string
    readonly further?: readonly string[]
    readonly resident?: readonly string[] | null
  } = {},
): Promise<{ readonly keeper: Keeper; readonly group: KeeperGroup }> {
  const prepare = await openLaunches(t, options.further, options.resident)
  const launch = await prepare('lone', options.program)
  const keeper = await startKeeper(launch)
  launch.group.closeDescriptors()
  t.teardown(() => keeper.close())
  return { keeper, group: launch.group }
}

/** The first slot of a worker. */
export const slot: Slot = {
  index: 0,
  uid: process.getuid?.() === 0 ? firstUid : null,
  interactorUid: null,
}

type KeeperBoxes = Awaited<ReturnType<typeof createKeeperBoxes>>

/**
 * Opens the keepers of slots outside an executor, and closes them when the test ends.
 * @param options `createForKeeper` makes a keeper's group, or does something else besides; `chooseProgram` chooses each
 * keeper's program. Without `onFallback`, a fallback fails the test.
 */
export async function openKeeperBoxes(
  t: Test,
  {
    createForKeeper: create = (usual, ...slot) => usual(...slot),
    chooseProgram = (built) => built,
    ...options
  }: Partial<Omit<Parameters<typeof createKeeperBoxes>[0], 'resources'>> & {
    readonly slots: readonly Slot[]
    readonly createForKeeper?: (
      usual: CgroupParent['createForKeeper'],
      name: string,
      uid: number | null,
    ) => Promise<KeeperGroup>
    readonly chooseProgram?: (built: string) => string
  },
): Promise<KeeperBoxes> {
  const cgroups = await openCgroupParent(nameWorkerGroup())
  t.teardown(() => cgroups.close())
  const built = await buildKeeper(keeperDirectory)
  const boxes = await createKeeperBoxes({
    resources: {
      cgroups: {
        ...cgroups,
        createForKeeper: (...slot) => create(cgroups.createForKeeper.bind(cgroups), ...slot),
      },
      filters: assembleFilters(),
      get programs() {
        return { ...built, program: chooseProgram(built.program) }
      },
      layout: encodeLayout(),
    },
    forkServers: [],
    prestartedRuntimes: [],
    onFallback: (reason) => t.fail(reason),
    dyingSeconds: 60,
    ...options,
  })
  t.teardown(() => boxes.close())
  return boxes
}

/** Makes a request for a keeper. @param more.files the content of each file of the box. */
export function request(
  argv: readonly string[],
  more: {
    stdin?: string
    wallSeconds?: number
    memoryBytes?: number
    files?: Readonly<Record<string, string | Buffer>>
  } = {},
): PhaseRequest {
  const files = Object.entries(more.files ?? {}).map(([name, content]) => ({
    path: `/box/${name}`,
    content: Buffer.from(content),
    executable: true,
  }))
  return {
    command: { argv, files, unlimitedStack: false },
    stdin: Buffer.from(more.stdin ?? ''),
    limits: {
      cpuSeconds: 10,
      wallSeconds: more.wallSeconds ?? 30,
      memoryBytes: more.memoryBytes ?? 64 << 20,
      processes: 16,
      stdoutBytes: 1 << 20,
      stderrBytes: 1 << 20,
      diskBytes: 1 << 20,
    },
    ranOutOfMemory: () => false,
  }
}

/**
 * Writes a Python program that takes a keeper's place, with `hear(n)`, `hear_line()` and `say(kind, body)` for the socket.
 * Returns its path.
 */
export function writeStandIn(t: Test, body: string): string {
  const path = join(makeDirectory(t), 'keeper')
  const text = `#!/usr/bin/python3
import os, signal, socket, sys, time
link = socket.socket(fileno=3)
def hear(count):
  data = b''
  while len(data) < count:
    piece = link.recv(count - len(data))
    if not piece: sys.exit(0)
    data += piece
  return data
def hear_line():
  line = b''
  while not line.endswith(b'\\n'): line += hear(1)
  return line
def say(kind, body=None):
  head = kind if body is None else f'{kind} bytes={len(body)}'
  link.sendall(head.encode() + b'\\n' + (body or b''))
def result(end='exited', status=0, reason='none', unsettled=0, figures=(1000000, 1000000, 65536, 0, 0, 0)):
  names = 'wall_nanoseconds cpu_nanoseconds memory_peak_bytes memory_kills stdout_bytes stderr_bytes'.split()
  fields = dict(end=end, status=status, reason=reason, delay_milliseconds=0, unsettled=unsettled, **dict(zip(names, figures)))
  return 'result' + ''.join(f' {name}={value}' for name, value in fields.items())
head = dict(field.split('=') for field in hear_line().decode().split()[1:])
hear(sum(int(head[f'{name}_bytes']) for name in ('filter', 'keeper_filter', 'layout', 'runtime')))
${body}
`
  writeFileSync(path, text, { mode: 0o755 })
  return path
}

/** Lists the living processes in a keeper's cgroup. */
export function listProcesses({ entrances }: Pick<KeeperGroup, 'entrances'>): number[] {
  const folders = entrances.map((path) => dirname(path))
  // On v2 the keeper is in a leaf of its group. The groups of the boxes are beside the leaf.
  const [first = ''] = folders
  const top = first.endsWith('/keeper') ? dirname(first) : first
  const read = (folder: string): number[] => [
    ...readFileSync(`${folder}/cgroup.procs`, 'utf8').split('\n').filter(Boolean).map(Number),
    ...readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => read(`${folder}/${name}`)),
  ]
  return read(top)
}
