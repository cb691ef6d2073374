// The shape of attacks in further languages. Each language has one program, whose input names the way to attack, so that it
// compiles once; and sources that attack the compiler or the loader. ways.ts makes rows of them.
import type { Language } from '#language'
import type { Fate } from '../attack.ts'
import type { Way } from './ways.ts'

/** A source that attacks before its program runs: through a compiler, or through the loader of an interpreter. */
export interface SourceAttack {
  /** The fact that holds, in plain words. */
  readonly name: string
  /** `file`: reads one file and shows it, in messages or in output; `bomb`: exhausts the compiler. */
  readonly aim: 'file' | 'bomb'
  /** Returns a whole source for one path; a bomb ignores the path. The compiled program prints `held`. */
  readonly source: (path: string) => string
  /** The paths to try: few where compilers are slow. */
  readonly paths?: readonly string[]
  /** For a bomb: the allowed fates in addition to the usual ones. */
  readonly fates?: readonly Fate[]
  /** False when the source reads no file at all, wherever the file is, because the language itself refuses. */
  readonly works?: boolean
}

/** The attacks in one language. */
export interface HostileLanguage {
  readonly language: Language
  /** A whole program, which reads the name of a way from its input and attacks in this way. */
  readonly program: string
  /** The ways that the program knows, each with the fates that this language allows in addition to the usual ones. */
  readonly ways: Readonly<Partial<Record<Way, readonly Fate[]>>>
  readonly sources: readonly SourceAttack[]
}

/** An attack that shows a file through the compiler or the loader. */
export function shows(
  name: string,
  source: (path: string) => string,
  paths: readonly string[] = sourcePaths,
): SourceAttack {
  return { name, aim: 'file', source, paths }
}

/** Like `shows`, for a source that reads no file at all, wherever the file is, because the language itself refuses. */
export function showsNone(
  name: string,
  source: (path: string) => string,
  paths: readonly string[] = twoPaths,
): SourceAttack {
  return { name, aim: 'file', source, paths, works: false }
}

/**
 * An attack that makes the compiler compute or allocate without end.
 * @param fates the allowed fates in addition to a limit or a failure.
 */
export function exhausts(name: string, source: string, fates: readonly Fate[] = []): SourceAttack {
  return { name, aim: 'bomb', source: () => source, fates }
}

/** A language in which only sources attack, because other languages cover the run phase. */
export function attackSources(
  language: Language,
  sources: readonly SourceAttack[],
): HostileLanguage {
  return { language, program: '', ways: {}, sources }
}

/** Returns the words in double quotes with commas between: a list in most languages. */
export function quote(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(', ')
}

/** Host files that no program may open. canary.ts replaces `@NAME@`. */
export const hostPaths: readonly string[] = [
  '/etc/shadow',
  '/etc/debian_version',
  '/etc/hostname',
  '/root/.bashrc',
  '/etc/php/8.2/fpm/pool.d/www.conf',
  '/sys/kernel/uevent_helper',
  '/proc/1/root/etc/shadow',
  '/proc/1/root@FILE@',
  '/proc/self/root@FILE@',
  '/proc/self/cwd/../../../..@FILE@',
  '@FILE@',
  '@SHM_FILE@',
  '@VAR_FILE@',
  '/../../..@FILE@',
  '/proc/@WORKER_PID@/environ',
  '/proc/@HOLDER_PID@/environ',
  '/proc/@HOLDER_PID@/cmdline',
]

/** Files of the box, which may exist and must not hold the host's secret. A program prints what it finds in them. */
export const boxPaths: readonly string[] = [
  '/proc/self/environ',
  '/proc/1/environ',
  '/proc/1/cmdline',
  '/proc/self/cmdline',
]

/** The paths that a source attack tries to read. */
export const sourcePaths: readonly string[] = [
  '@FILE@',
  '../../../../../..@FILE@',
  '/proc/1/root@FILE@',
  '/etc/debian_version',
  '/proc/self/environ',
]

/** A choice of `sourcePaths` for attacks that are not known to show any file. */
export const twoPaths: readonly string[] = ['@FILE@', '/etc/debian_version']

/** A choice of `sourcePaths` for compilers that take seconds. */
export const onePath: readonly string[] = ['@FILE@']

/**
 * System calls by number (x86_64, aarch64), with harmless arguments. Each call must be refused before the kernel looks at
 * them.
 */
const table: readonly (readonly [x86: number, arm: number, ...words: number[]])[] = [
  [165, 40],
  [101, 117],
  [41, 198, 2, 1],
  [41, 198, 2, 2],
  [41, 198, 10, 1],
  [41, 198, 16, 3],
  [41, 198, 17, 3],
  [272, 97, 0x10000000],
  [308, 268, 0],
  [155, 41],
  [161, 51],
  [321, 280],
  [250, 219, 0, -3, 1],
  [116, 159],
  [304, 265, -100],
  [425, 425, 8],
  [323, 282, 1],
  [298, 241, 0, 0, -1, -1],
  [310, 270, 1],
  [447, 447],
  [435, 435],
  [300, 262],
  [175, 105],
  [246, 104],
  [317, 277],
  [428, 428, -100],
  [430, 430],
  [470, 470],
]

/** The calls as rows of seven numbers: the call's number and its six arguments. */
export const callRows: readonly (readonly number[])[] = table.map(([x86, arm, ...words]) => [
  process.arch === 'x64' ? x86 : arm,
  ...Array.from({ length: 6 }, (_, index) => words[index] ?? 0),
])

/** All numbers of the rows, one after the other. */
const callNumbers = callRows.flat().join(', ')

/** The allowed errno values of a refused call: EPERM, ESRCH, EACCES, ENOSYS, EPROTONOSUPPORT, ESOCKTNOSUPPORT, EAFNOSUPPORT. */
export const policyErrors = '1, 3, 13, 38, 93, 94, 97'

/** What the programs try, as the elements of a list in most languages. */
export const aims = {
  hostFiles: quote(hostPaths),
  boxFiles: quote(boxPaths),
  calls: callNumbers,
  errors: policyErrors,
} as const
