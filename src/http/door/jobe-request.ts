// A Jobe run_spec, and the translation of its parameters to fields of the API.
import * as v from 'valibot'
import type { TierLimits } from '#account'
import { catalogue, defaultLimits, jobe } from '#language'
import type { Language, LanguageDefinition } from '#language'
import { few } from '#options'
import type { LimitName } from '#options'
import { mostAllowed } from '../relations.ts'
import { hasCompiler, refuse } from './run.ts'
import { splitWords } from './words.ts'

/** A megabyte as Jobe's sandbox counts it. */
const megabyte = 1024 * 1000

/** Returns the message for a value that is not an object, or that lacks a required attribute. */
const missing =
  (instead: string) =>
  ({ path }: v.ObjectIssue): string => {
    const name = path?.at(-1)?.key
    if (typeof name !== 'string') return instead
    return name === 'run_spec' ? noRunSpec : `run_spec is missing the required attribute '${name}'`
  }
const noRunSpec = 'No run_spec attribute found in post data'

const required = (name: string) =>
  v.string(`run_spec is missing the required attribute '${name}' as a string`)
const words = (name: string) =>
  v.nullish(few(v.array(v.string(`${name} must hold strings`), `${name} must be an array`)))
/** The schema of the body of POST runs. */
export const runRequest = v.object(
  {
    run_spec: v.object(
      {
        sourcecode: required('sourcecode'),
        language_id: required('language_id'),
        input: v.nullish(v.string('input must be a string')),
        sourcefilename: v.nullish(v.string('sourcefilename must be a string')),
        file_list: v.nullish(v.array(v.unknown(), 'file_list must be an array')),
        // PHP writes an object without fields as [].
        parameters: v.nullish(
          v.looseObject(
            {
              compileargs: words('compileargs'),
              linkargs: words('linkargs'),
              interpreterargs: words('interpreterargs'),
              runargs: words('runargs'),
            },
            'parameters must be an object',
          ),
        ),
      },
      missing(noRunSpec),
    ),
  },
  missing('Non-JSON post data received'),
)
type Parameters = NonNullable<v.InferOutput<typeof runRequest>['run_spec']['parameters']>

export function isSourceName(name: string): boolean {
  return !/[<>:"/\\|?*\p{Cc}\u00A0\u00AD#[\]@!$&'()+,;={}^~`]|^[.-]/u.test(name)
}

const fileId = v.pipe(v.string(), v.regex(/^[\dA-Za-z]{8,200}$/))
const fileName = v.pipe(v.string(), v.regex(/^[\w.-]+$/), v.regex(/[\dA-Za-z]/))
/** An element of `file_list`. */
export const fileSpecifier = v.union([
  v.strictTuple([fileId, fileName]),
  v.strictTuple([fileId, fileName, v.unknown()]),
])

/** Translates arguments, each a piece of a shell command. Compiler arguments of a language without a compiler are ignored. */
export function translateArguments(given: Parameters, language: Language): object {
  const harmless = jobe.interpreterArguments[language]
  const foreign = split('interpreterargs', given.interpreterargs).find(
    (word) => harmless?.test(word) !== true,
  )
  if (foreign !== undefined) throw refuse(`interpreterargs: ${foreign} cannot be given here`)
  const { always = [], usual } = jobe.compileArguments[language] ?? {}
  return {
    args: split('runargs', given.runargs),
    ...(hasCompiler(language) && {
      compile_args: [
        ...always,
        ...split('compileargs', given.compileargs ?? usual),
        ...split('linkargs', given.linkargs),
      ],
    }),
  }
}

function split(name: string, given: readonly string[] | null | undefined): readonly string[] {
  const found = splitWords((given ?? []).join(' '))
  if (found === undefined) throw refuse(`${name} has an open quote`)
  return found
}

/**
 * Translates limits from MB and seconds. A value above the tier's limit, or the value "no limit", becomes the tier's limit.
 * @throws {Problem} for too much CPU time, which Jobe refuses too.
 */
export function translateLimits(
  given: Parameters,
  language: Language,
  allowed: TierLimits,
): Partial<Record<LimitName, number>> {
  const usual = defaultLimits[language].run
  const { least }: LanguageDefinition = catalogue[language]
  const keeps = jobe.keepsUsual.includes(language)
  const most = (name: LimitName): number => mostAllowed(name, usual, allowed)
  const bound = (name: LimitName, asked: number | undefined, unit: number, floor = 0): object => {
    if (asked === undefined) return {}
    const value = asked <= 0 ? most(name) : Math.max(floor, Math.round(asked * unit))
    return { [name]: Math.min(value, most(name)) }
  }
  const read = (name: string): number | undefined => {
    const value = given[name]
    const isGiven = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '')
    return isGiven && Number.isFinite(Number(value)) ? Number(value) : undefined
  }
  const cpu = read('cputime') ?? 0
  if (cpu > most('cpu_time'))
    throw refuse(`cputime exceeds maximum allowed on this Jobe server (${most('cpu_time')} secs)`)
  const stream = read('streamsize') ?? 2
  return {
    ...(cpu > 0 && { cpu_time: cpu, wall_time: Math.min(2 * cpu, most('wall_time')) }),
    ...bound('memory', read('memorylimit'), megabyte, keeps ? usual.memoryBytes : 0),
    ...bound('processes', read('numprocs'), 1, keeps ? usual.processes : (least?.processes ?? 0)),
    ...bound('disk', read('disklimit'), megabyte),
    ...bound('stdout', stream, megabyte),
    ...bound('stderr', stream, megabyte),
  }
}
