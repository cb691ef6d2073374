// The ways in which the programs of language/ attack, and the rows made from them. The rows go way by way, so that a program
// is compiled in its first row and comes from the cache in the others.
import { stopped } from '../attack.ts'
import type { Attack, Fate } from '../attack.ts'
import type { HostileLanguage, SourceAttack } from './language.ts'

interface WayRow {
  /** The fact that holds, in plain words. */
  readonly name: string
  readonly fates: readonly Fate[]
}

/** Each way, by the word that a program reads. */
export const ways = {
  files: {
    name: "no file of the host's can be opened, and its secrets are nowhere",
    fates: ['exited'],
  },
  calls: { name: 'system calls that no program needs are refused', fates: ['exited'] },
  daemon: { name: 'what goes on in a session of its own dies with its run', fates: ['exited'] },
  disk: { name: 'what it writes to disk is bounded', fates: ['exited', 'memory_limit'] },
  output: { name: 'endless output is cut', fates: ['output_limit'] },
  memory: { name: 'memory without end meets the limit', fates: ['memory_limit'] },
  processes: { name: 'a bomb of processes ends within its limits', fates: stopped },
  threads: { name: 'a bomb of threads ends within its limits', fates: stopped },
} as const satisfies Record<string, WayRow>

export type Way = keyof typeof ways

/** For a language whose program knows every way: each has its usual fates. */
export const everyWay = Object.fromEntries(Object.keys(ways).map((way) => [way, []])) as Readonly<
  Partial<Record<Way, readonly Fate[]>>
>

const { threads: _, ...withoutThreads } = everyWay
/** For a language without threads. */
export const everyWayWithoutThreads = withoutThreads

/** A file that every box contains, and words in it. With it a source attack proves that it could show a file of the host. */
const readable = { path: '/usr/lib/os-release', words: /PRETTY_NAME|VERSION_CODENAME/u }

/** Returns the rows of all languages. */
export function listRows(
  languages: readonly HostileLanguage[],
  compiled: ReadonlySet<string>,
): Attack[] {
  const running = (Object.keys(ways) as Way[]).flatMap((way) =>
    languages.flatMap(({ language, program, ways: own }): Attack[] => {
      const more = own[way]
      if (more === undefined) return []
      const { name, fates } = ways[way]
      const code = { [language]: program }
      return [
        {
          name,
          profile: 'language',
          phase: 'run',
          code,
          stdin: `${way}\n`,
          fates: [...fates, ...more],
        },
      ]
    }),
  )
  const loading = languages.flatMap((one) =>
    one.sources.flatMap((source) => listSource(one, source, compiled.has(one.language))),
  )
  return [...running, ...loading]
}

function listSource(
  { language }: HostileLanguage,
  { name, aim, source, works = true, paths = [], fates: more = [] }: SourceAttack,
  isCompiled: boolean,
): Attack[] {
  const phase = isCompiled ? 'compile' : 'run'
  if (aim === 'bomb')
    return [
      {
        name,
        profile: 'compiler',
        phase,
        code: { [language]: source('') },
        fates: [...stopped, 'output_limit', 'crashed', 'signaled', ...more],
      },
    ]
  const fates: readonly Fate[] = ['exited', 'crashed', 'signaled']
  const show = (path: string, further: Partial<Attack> = {}): Attack => ({
    name: `${name}: ${path}`,
    profile: 'language',
    phase,
    code: { [language]: source(path) },
    fates,
    ...further,
  })
  const proof = { name: `${name}, but what all may read`, shows: readable.words }
  return [...paths.map((path) => show(path)), ...(works ? [show(readable.path, proof)] : [])]
}
