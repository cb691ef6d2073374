// The executors that attacks run in: one for each profile of limits, created when first needed. Most have several slots, so
// that every attack has neighbours. `single` has one slot, so that two runs certainly share it.
import { readdirSync } from 'node:fs'
import type { Dirent } from 'node:fs'
import { createExecutor } from '#executor'
import type { Executor } from '#executor'
import { defaultLimits, languages as allLanguages, mapLanguages } from '#language'
import type { Language, Limits, PhaseLimits } from '#language'
import { plainOptions, timeFactor } from '../helper/executor.ts'
import type { Attack, Profile } from './attack.ts'
import { attackers } from './program.ts'
import type { Attacker } from './program.ts'

const mebibyte = 1024 * 1024

const wide: PhaseLimits = {
  cpuSeconds: 15,
  wallSeconds: 30,
  memoryBytes: 1024 * mebibyte,
  processes: 128,
  stdoutBytes: 16 * mebibyte,
  stderrBytes: mebibyte,
  diskBytes: 64 * mebibyte,
}

const narrow: PhaseLimits = {
  cpuSeconds: 0.5,
  wallSeconds: 2,
  memoryBytes: 64 * mebibyte,
  processes: 32,
  stdoutBytes: 64 * 1024,
  stderrBytes: 16 * 1024,
  diskBytes: 16 * mebibyte,
}

/** The limits of a compiler under attack. */
export const compileLimits: PhaseLimits = {
  ...wide,
  cpuSeconds: 3,
  wallSeconds: 10,
  memoryBytes: 512 * mebibyte,
  stderrBytes: 128 * 1024,
}

function stretch(limits: PhaseLimits): PhaseLimits {
  return {
    ...limits,
    cpuSeconds: limits.cpuSeconds * timeFactor,
    wallSeconds: limits.wallSeconds * timeFactor,
  }
}

function limitAll(compile: PhaseLimits, run: PhaseLimits): Record<Attacker, Limits> {
  const pair = (run: PhaseLimits): Limits => ({ compile: stretch(compile), run: stretch(run) })
  // A JVM has some twenty threads, needs 64 MiB beside its heap, and takes half a second of CPU time to start.
  const java = {
    ...run,
    cpuSeconds: run.cpuSeconds * 3,
    wallSeconds: run.wallSeconds * 2,
    memoryBytes: Math.max(run.memoryBytes, 192 * mebibyte),
    processes: Math.max(run.processes, 64),
  }
  return { python: { ...pair(run), compile: null }, cpp: pair(run), java: pair(java) }
}

const look: PhaseLimits = { ...narrow, cpuSeconds: 8, wallSeconds: 15, stdoutBytes: mebibyte }

/** Returns the default limits of a language, with less of the resources that attacks consume until they end. */
function limitFurther({ compile, run }: Limits): Limits {
  // A virtual machine needs seconds of CPU time to start.
  const isVirtualMachine = run.processes > defaultLimits.c.run.processes
  return {
    compile: compile && stretch({ ...compile, wallSeconds: compile.wallSeconds * 2 }),
    run: stretch({
      ...run,
      cpuSeconds: isVirtualMachine ? run.cpuSeconds : run.cpuSeconds / 2,
      wallSeconds: run.wallSeconds * 2,
      stdoutBytes: 256 * 1024,
      diskBytes: 16 * mebibyte,
    }),
  }
}

/** Returns tight limits for a compiler, so that it ends soon. The program itself gets little CPU time. */
function limitCompiler({ compile, run }: Limits): Limits {
  const tight = { ...compileLimits, cpuSeconds: 2, processes: 256 }
  return { compile: compile && stretch(tight), run: stretch({ ...run, cpuSeconds: 3 }) }
}

const limits: Readonly<Record<Profile | 'single', Partial<Record<Language, Limits>>>> = {
  language: mapLanguages(({ name }) => limitFurther(defaultLimits[name])),
  compiler: mapLanguages(({ name }) => limitCompiler(defaultLimits[name])),
  bomb: limitAll(wide, narrow),
  probe: limitAll(wide, look),
  single: limitAll(wide, look),
  compile: limitAll(compileLimits, look),
}

/** An executor under test, and the names by which the host knows it. */
export interface Arena {
  readonly executor: Executor
  /** Host uids of the executor's slots. */
  readonly uids: readonly number[]
  readonly cacheDirectory: string
  /** The name of the executor's parent group in every cgroup hierarchy. */
  readonly groupName: string
  /** The languages that are not installed on this machine. */
  readonly missing: readonly Language[]
}

// Differs from the uids of other test files (helper/executor.ts) and of the worker.
const firstUid = 100_000 + (process.pid % 300) * 60
const order: readonly (Profile | 'single')[] = [
  'bomb',
  'probe',
  'compile',
  'single',
  'language',
  'compiler',
]

/** Most attacks wait for a limit. More slots than cores would only lengthen the wall time of attacks that compute. */
const slots = 4

/** Host uids of one executor: two for each slot, and one for its resident compiler. */
const uidsEach = 2 * slots + 1

/** Profiles with many Java programs. A resident compiler compiles these in a tenth of the time. */
const hasMuchJava: ReadonlySet<string> = new Set<Profile>(['bomb', 'probe', 'compile'])

/**
 * Starts the executor of a profile. That of compile attacks has everything that compiles, to attack it.
 * @param further languages in addition to `attackers`.
 */
export async function openArena(
  name: Profile | 'single',
  directory: string,
  further: readonly Language[] = [],
): Promise<Arena> {
  const first = firstUid + order.indexOf(name) * uidsEach
  const cacheDirectory = `${directory}/${name}`
  const missing: Language[] = []
  const wanted = new Set<Language>([...attackers, ...further])
  const watched = await watchStart(() =>
    createExecutor({
      slots: name === 'single' ? 1 : slots,
      firstUid: first,
      languages: allLanguages.filter((language) => wanted.has(language)),
      onMissing: ({ language }) => missing.push(language),
      proves: false,
      limits: limits[name],
      cacheBytes: 256 * mebibyte,
      cacheDirectory,
      accelerators: [
        'fork-server',
        'prestart',
        ...(hasMuchJava.has(name) ? (['resident-compiler'] as const) : []),
        ...(name === 'compile' ? (['preparation'] as const) : []),
      ],
      ...plainOptions,
    }),
  )
  const uids = Array.from({ length: 2 * slots }, (_, index) => first + index)
  return { ...watched, uids, cacheDirectory, missing }
}

/** Starts an executor. @returns the executor and the name of its cgroups. */
export async function watchStart(
  start: () => Promise<Executor>,
): Promise<Pick<Arena, 'executor' | 'groupName'>> {
  const before = new Set(findGroupNames())
  const executor = await start()
  const groupName = findGroupNames().find((name) => !before.has(name))
  if (groupName === undefined) throw new Error('the executor has made no cgroup')
  return { executor, groupName }
}

/** Returns the entries of a directory; none when it has been removed, because other executors make and remove groups. */
export function listEntries(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    return []
  }
}

/** Returns the names of this process's executors in the cgroup tree: `runledger-<namespace>-<pid>-<start>-<number>`. */
function findGroupNames(): string[] {
  const mine = new RegExp(`^runledger-\\d+-${process.pid}-`)
  const found: string[] = []
  const descend = (directory: string, depth: number): void => {
    for (const entry of listEntries(directory)) {
      if (!entry.isDirectory()) continue
      if (mine.test(entry.name)) found.push(entry.name)
      else if (depth > 0) descend(`${directory}/${entry.name}`, depth - 1)
    }
  }
  descend('/sys/fs/cgroup', 8)
  return found
}

/** Returns true when the bound on compile time applies to the attack's compiler. */
export const hasTightCompiler = ({ profile, phase }: Attack): boolean =>
  phase === 'compile' && profile !== 'language'

/** The wall time limit of a compile attack, for the bound on compile time. */
export const compileWallSeconds = compileLimits.wallSeconds * timeFactor
