// The shape of what attacks in further languages: one program a language, which attacks in the way that its input names, so
// that it is compiled once; and sources that attack whatever compiles or loads them. ways.ts makes rows of them.
import type { Language } from '#language'
import type { Fate } from '../attack.ts'
import type { Way } from './ways.ts'

/** A source that attacks before its program runs: through a compiler, or through what an interpreter does as it loads. */
export interface SourceAttack {
  /** What holds, as a plain fact. */
  readonly name: string
  /** Reads one file and shows it, in messages or in output; or exhausts the compiler. */
  readonly aim: 'file' | 'bomb'
  /** A whole source for one path of the box's; a bomb needs none. A program of it prints `held`. */
  readonly source: (path: string) => string
  /** Few paths are tried where compilers are slow; all if left out. */
  readonly paths?: readonly string[]
  /** For a bomb: the fates that are right beside the usual ones. */
  readonly fates?: readonly Fate[]
  /** False for one that reads no file at all, wherever it is: the language refuses by itself. */
  readonly works?: boolean
}

/** What attacks in one language. */
export interface HostileLanguage {
  readonly language: Language
  /** A whole program: reads the name of a way from its input, and goes it. */
  readonly program: string
  /** The ways that it knows, each with the fates that are right in this language beside the usual ones. */
  readonly ways: Readonly<Partial<Record<Way, readonly Fate[]>>>
  readonly sources: readonly SourceAttack[]
}

/** Shows a file through the compiler, or through what loads it. */
export function shows(
  name: string,
  source: (path: string) => string,
  more: Pick<SourceAttack, 'paths' | 'works'> = {},
): SourceAttack {
  return { name, aim: 'file', source, ...more }
}

/**
 * Makes the compiler compute or hold without end.
 * @param fates that are right beside being stopped and failing.
 */
export function exhausts(name: string, source: string, fates: readonly Fate[] = []): SourceAttack {
  return { name, aim: 'bomb', source: () => source, fates }
}

/** A language of which only sources attack: what its programs do when they run, others have done. */
export function attackSources(
  language: Language,
  sources: readonly SourceAttack[],
): HostileLanguage {
  return { language, program: '', ways: {}, sources }
}

/** Strings in double quotes, with commas between: a list in most languages. */
export function quote(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(', ')
}

/** Host files that no program may open; `@NAME@` is of canary.ts. */
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

/** Files of the box's own, which may be there and must not hold the host's secret: a program shows what it finds. */
export const boxPaths: readonly string[] = [
  '/proc/self/environ',
  '/proc/1/environ',
  '/proc/1/cmdline',
  '/proc/self/cmdline',
]

/** What a source attack reaches for. */
export const sourcePaths: readonly string[] = [
  '@FILE@',
  '../../../../../..@FILE@',
  '/proc/1/root@FILE@',
  '/etc/debian_version',
  '/proc/self/environ',
]

/** Of them, for what shows nothing anywhere, as far as is known. */
export const twoPaths: readonly string[] = ['@FILE@', '/etc/debian_version']

/** Of them, for compilers that take seconds. */
export const onePath: readonly string[] = ['@FILE@']

/** System calls by number (x86_64, aarch64), with arguments that would do no harm; the kernel must not get to see them. */
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

/** The calls as rows of seven numbers: the call's, and its arguments'. */
export const callRows: readonly (readonly number[])[] = table.map(([x86, arm, ...words]) => [
  process.arch === 'x64' ? x86 : arm,
  ...Array.from({ length: 6 }, (_, index) => words[index] ?? 0),
])

/** All numbers of the rows, one after the other. */
export const callNumbers = callRows.flat().join(', ')

/** What a refused call's errno may be: EPERM, ESRCH, EACCES, ENOSYS, EPROTONOSUPPORT, ESOCKTNOSUPPORT, EAFNOSUPPORT. */
export const policyErrors = '1, 3, 13, 38, 93, 94, 97'
