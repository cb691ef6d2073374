// Checks a submission's fields against each other and against the key's tier; each field is already valid by itself.
import type { TierLimits } from '#account'
import type { Issue } from '#error'
import { catalogue, defaultLimits } from '#language'
import type { Language, LanguageDefinition, PhaseLimits } from '#language'
import { byteLength, decode, judgeNames, limitNames } from '#options'
import type {
  CheckerOption,
  GroupOption,
  InteractorOption,
  LimitName,
  Options,
  TestOption,
} from '#options'

const testsBytesMost = 1024 * 1024

/** Pairs of fields that cannot be combined; `why` gives the reason and the remedy where they are not obvious. */
const exclusive: readonly (readonly [name: string, other: string, why?: string])[] = [
  ['stdin', 'tests'],
  ['expected_stdout', 'tests'],
  ['stdin_sha256', 'tests'],
  ['expected_stdout_sha256', 'tests'],
  ['output_files', 'tests'],
  ['checker', 'interactor', ', whose exit status is the verdict: leave one of the two out'],
  ['stdin_sha256', 'stdin'],
  ['expected_stdout_sha256', 'expected_stdout'],
]

/** The fields that are valid by themselves. */
type Sound = Options & {
  readonly language?: Language | undefined
  readonly stdin?: string | undefined
}

/**
 * Lists the issues between fields. This is plain code and not valibot's partialCheck, because `forward` compares every issue
 * with every other one, and a hostile body has a hundred thousand.
 * @param has true when a field is given, even if it is invalid by itself.
 */
export function* judgeRelations(
  sound: Sound,
  allowed: TierLimits,
  has: (name: string) => boolean,
): Generator<Issue> {
  for (const [path, other, why = ''] of exclusive)
    if (has(path) && has(other)) yield { path, message: `cannot be combined with ${other}${why}` }
  if (has('stop_on_failure') && !has('tests'))
    yield { path: 'stop_on_failure', message: 'needs tests' }
  if (sound.checker !== undefined) yield* judgeChecker(sound.checker, has)
  if (has('interactor') && !has('tests')) yield { path: 'interactor', message: 'needs tests' }
  yield* judgeTests(sound)
  yield* judgePoints(sound, has)
  yield* judgeFileNames(sound)
  yield* judgeCompiler(sound)
  yield* judgeEnvironment(sound)
  const { language, limits, compile_limits: compileLimits } = sound
  if (language !== undefined) yield* judgeLimits(language, limits, compileLimits, allowed)
}

function* judgeTests({ tests = [], stdin_encoding: encoding }: Sound): Generator<Issue> {
  let bytes = 0
  for (const [index, test] of tests.entries()) {
    const at = `tests.${index}`
    for (const name of ['stdin', 'expected_stdout'] as const)
      if (test[name] !== undefined && test[`${name}_sha256`] !== undefined)
        yield { path: `${at}.${name}_sha256`, message: `cannot be combined with ${name}` }
    const stdin = decode(test.stdin ?? '', encoding)
    if (stdin === null) yield { path: `${at}.stdin`, message: 'is not base64' }
    bytes += (stdin?.byteLength ?? 0) + byteLength(test.expected_stdout ?? '')
  }
  if (bytes > testsBytesMost)
    yield { path: 'tests', message: `is larger than ${testsBytesMost} bytes in all` }
}

function* judgeChecker(checker: CheckerOption, has: (name: string) => boolean): Generator<Issue> {
  if (has('tests')) return
  if (checker.type === 'program')
    yield { path: 'checker', message: 'needs tests, because it is a program' }
  else if (!['expected_stdout', 'expected_stdout_sha256'].some(has))
    yield { path: 'checker', message: 'needs tests, or expected_stdout' }
}

/** Checks the points and groups of tests. */
function* judgePoints({ tests, groups }: Sound, has: (name: string) => boolean): Generator<Issue> {
  if (has('groups') && !has('tests')) yield { path: 'groups', message: 'needs tests' }
  for (const [index, { points, group }] of tests?.entries() ?? []) {
    const at = `tests.${index}`
    if (points !== undefined && has('groups'))
      yield { path: `${at}.points`, message: 'cannot be combined with groups' }
    if (group === undefined) continue
    if (!has('groups')) yield { path: `${at}.group`, message: 'needs groups' }
    else if (groups?.every(({ name }) => name !== group) === true)
      yield { path: `${at}.group`, message: 'is not the name of a group' }
  }
  if (groups !== undefined) yield* judgeGroups(groups, tests)
}

function* judgeGroups(
  groups: readonly GroupOption[],
  tests: readonly TestOption[] | undefined,
): Generator<Issue> {
  const indexes = Map.groupBy(tests?.keys() ?? [], (index) => tests?.[index]?.group)
  const earlier = new Set<string>()
  for (const [index, { name, require_pass: required = [] }] of groups.entries()) {
    const at = `groups.${index}`
    if (earlier.has(name)) yield { path: `${at}.name`, message: 'is the name of an earlier group' }
    const [first] = indexes.get(name) ?? []
    if (tests !== undefined && first === undefined) yield { path: at, message: 'has no test' }
    for (const [n, other] of required.entries()) {
      const path = `${at}.require_pass.${n}`
      const last = indexes.get(other)?.at(-1)
      if (!earlier.has(other)) yield { path, message: 'is not the name of an earlier group' }
      else if (first !== undefined && last !== undefined && last > first)
        yield { path, message: 'has a test after the first test of this group' }
    }
    earlier.add(name)
  }
}

/** Checks a checker or interactor program. @param at its path in the request. */
function* judgeProgram(
  at: string,
  { language, compile_args: args = [], files = [] }: InteractorOption,
): Generator<Issue> {
  if (args.length > 0 && defaultLimits[language].compile === null)
    yield { path: `${at}.compile_args`, message: noCompiler(language) }
  const beside = [...listOwnFiles(language), 'input', 'output', 'answer']
  const names = files.map(({ name }) => name)
  yield* judgeNames(`${at}.files`, beside, names, '.name')
}

function* judgeFileNames({
  language,
  files = [],
  output_files: outputs = [],
  checker,
  interactor,
}: Sound): Generator<Issue> {
  const own = listOwnFiles(language)
  const names = files.map(({ name }) => name)
  yield* judgeNames('files', own, names, '.name')
  yield* judgeNames('output_files', own, outputs)
  for (const [index, output] of outputs.entries())
    if (names.some((name) => name.toLowerCase() === output.toLowerCase()))
      yield {
        path: `output_files.${index}`,
        message: 'is the name of one of files, which a program cannot write',
      }
  if (checker?.type === 'program') yield* judgeProgram('checker', checker)
  if (interactor !== undefined) yield* judgeProgram('interactor', interactor)
}

/** Returns the names of the files that the language itself puts into the box. */
function listOwnFiles(language: Language | undefined): readonly string[] {
  if (language === undefined) return []
  const { recipe, ownFiles = [] }: LanguageDefinition = catalogue[language]
  return recipe === undefined
    ? ownFiles
    : [recipe.source, ...(recipe.compile ? [recipe.compile.makes] : [])]
}

const noCompiler = (language: Language): string => `cannot be used: ${language} has no compiler`

function* judgeCompiler({
  language,
  compile_args: args = [],
  compile_limits: limits,
}: Sound): Generator<Issue> {
  if (language === undefined || defaultLimits[language].compile !== null) return
  const message = noCompiler(language)
  if (args.length > 0) yield { path: 'compile_args', message }
  if (limits !== undefined) yield { path: 'compile_limits', message }
}

/** Refuses environment variables that the language's recipe sets; they differ by language. */
function* judgeEnvironment({ language, env = {} }: Sound): Generator<Issue> {
  const { recipe }: Partial<LanguageDefinition> = language === undefined ? {} : catalogue[language]
  for (const name of Object.keys(recipe?.environment ?? {}))
    if (Object.hasOwn(env, name))
      yield { path: `env.${name}`, message: `cannot be set: ${language} is started with it` }
}

type GivenLimits = Readonly<Partial<Record<LimitName, number | undefined>>>

/**
 * Raises the wall time when a request sets none but sets a CPU time above the default wall time: to twice the CPU time, as far
 * as the tier allows.
 * @param given the request's limits, which are valid.
 */
export function followWall<Given extends GivenLimits>(
  given: Given,
  usual: PhaseLimits | null,
  allowed: TierLimits,
): Given {
  const { cpu_time: cpu = 0, wall_time: wall } = given
  if (usual === null || wall !== undefined || cpu <= usual.wallSeconds) return given
  const most = Math.max(usual.wallSeconds, allowed.wall_time ?? 0)
  return { ...given, wall_time: Math.min(2 * cpu, most) }
}

/** Returns the language's default or what the tier allows, whichever is more. */
export function mostAllowed(name: LimitName, usual: PhaseLimits, allowed: TierLimits): number {
  return Math.max(usual[limitNames[name]], allowed[name] ?? 0)
}

/** Lists the limits that exceed both the language's default and what the tier allows. */
export function* judgeLimits(
  language: Language,
  run: GivenLimits | undefined,
  compile: GivenLimits | undefined,
  allowed: TierLimits,
): Generator<Issue> {
  const usual = defaultLimits[language]
  yield* judgePhase('limits', run, usual.run, allowed)
  if (usual.compile !== null) yield* judgePhase('compile_limits', compile, usual.compile, allowed)
}

function* judgePhase(
  path: string,
  given: GivenLimits | undefined,
  usual: PhaseLimits,
  allowed: TierLimits,
): Generator<Issue> {
  for (const [name, value] of Object.entries(given ?? {}) as [LimitName, number | undefined][]) {
    const most = mostAllowed(name, usual, allowed)
    if (value !== undefined && value > most)
      yield { path: `${path}.${name}`, message: `is more than this key’s tier allows: ${most}` }
  }
}
