// The draft that is being written in the playground, and its translation to and from a request.
import type { Checker, Limits, SubmissionRequest } from '#client'

/** An editable row. Its id stays the same as long as the row exists. */
interface Row {
  readonly id: number
}

export interface DraftFile extends Row {
  readonly name: string
  readonly content: string
}

export interface DraftTest extends Row {
  readonly name: string
  readonly stdin: string
  /** Null: the output is not judged. */
  readonly expected: string | null
}

/** The checkers that a draft can have, in words. */
export const checkerNames = {
  lines: 'Lines, without white space at their ends',
  exact: 'Every byte',
  tokens: 'Words, however they are spaced',
  unordered_lines: 'Lines in any order',
  floats: 'Numbers, within a tolerance',
} as const

export type CheckerType = keyof typeof checkerNames

/** A draft in which nothing is filled in. Numbers are kept as typed text; an empty one means the language's default. */
export const emptyDraft = {
  language: 'python',
  code: '',
  files: [] as readonly DraftFile[],
  /** Names of files to return, one a line. */
  outputFiles: '',
  stdin: '',
  /** Null: the output is not judged. */
  expected: null as string | null,
  /** One a line. */
  args: '',
  compileArgs: '',
  /** Seconds. */
  cpuTime: '',
  wallTime: '',
  /** MiB. */
  memory: '',
  tests: [] as readonly DraftTest[],
  checker: 'lines' as CheckerType,
  tolerance: '1e-6',
  stopOnFailure: false,
  lowPriority: false,
  tag: '',
}

export type Draft = Readonly<typeof emptyDraft>

/** Returns the list with further rows, each with an id larger than those before it. */
export function append<T extends Row>(list: readonly T[], rows: readonly Omit<T, 'id'>[]): T[] {
  const first = 1 + Math.max(0, ...list.map(({ id }) => id))
  return [...list, ...rows.map((row, index) => ({ ...row, id: first + index }) as T)]
}

const mebibyte = 1024 * 1024

/** Returns the request of a draft, with only the fields that were filled in. */
export function toRequest(draft: Draft): SubmissionRequest {
  const args = readWords(draft.args)
  const compileArgs = readWords(draft.compileArgs)
  const outputFiles = readNames(draft.outputFiles)
  const limits = readLimits(draft)
  const judged = draft.tests.length > 0 || draft.expected !== null
  return {
    language: draft.language,
    code: draft.code,
    ...(draft.files.length > 0 && {
      files: draft.files.map(({ name, content }) => ({ name, content })),
    }),
    ...(args.length > 0 && { args }),
    ...(compileArgs.length > 0 && { compile_args: compileArgs }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(draft.tests.length > 0
      ? { tests: draft.tests.map(toTest) }
      : {
          ...(outputFiles.length > 0 && { output_files: outputFiles }),
          ...(draft.stdin !== '' && { stdin: draft.stdin }),
          ...(draft.expected !== null && { expected_stdout: draft.expected }),
        }),
    ...(judged && draft.checker !== 'lines' && { checker: readChecker(draft) }),
    ...(draft.tests.length > 0 && draft.stopOnFailure && { stop_on_failure: true }),
    ...(draft.lowPriority && { priority: 'low' }),
    ...(draft.tag !== '' && { tag: draft.tag }),
  }
}

function toTest({ name, stdin, expected }: DraftTest): NonNullable<SubmissionRequest['tests']>[0] {
  return {
    ...(name !== '' && { name }),
    ...(stdin !== '' && { stdin }),
    ...(expected !== null && { expected_stdout: expected }),
  }
}

function readChecker({ checker, tolerance }: Draft): Checker {
  if (checker !== 'floats') return { type: checker }
  const figure = Number(tolerance)
  return { type: 'floats', absolute: figure, relative: figure }
}

function readWords(lines: string): string[] {
  return lines === '' ? [] : lines.replace(/\n$/, '').split('\n')
}

/** Reads one name a line, trimmed because no name begins or ends with white space. */
function readNames(lines: string): string[] {
  return lines.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]))
}

function readLimits({ cpuTime, wallTime, memory }: Draft): Limits {
  return {
    ...(cpuTime !== '' && { cpu_time: Number(cpuTime) }),
    ...(wallTime !== '' && { wall_time: Number(wallTime) }),
    ...(memory !== '' && { memory: Math.round(Number(memory) * mebibyte) }),
  }
}

// The fields of a request that a draft can hold.
const taken = [
  'language',
  'code',
  'files',
  'output_files',
  'stdin',
  'stdin_encoding',
  'expected_stdout',
  'args',
  'compile_args',
  'limits',
  'tests',
  'checker',
  'stop_on_failure',
  'priority',
  'tag',
]

/** Lists the parts of a request that a draft cannot hold. */
export function listLeftOut(request: SubmissionRequest): string[] {
  const { tests = [], files = [], checker } = request
  const partly = {
    'binary input': request.stdin_encoding === 'base64',
    'binary files': files.some(({ encoding }) => encoding === 'base64'),
    'blobs of tests': tests.some((test) => 'stdin_sha256' in test || 'expected_stdout_sha256' in test), // prettier-ignore
    'points of tests': tests.some((test) => 'points' in test || 'group' in test),
    'arguments of tests': tests.some(({ args = [] }) => args.length > 0),
    checker: checker !== undefined && !isCheckerType(checker.type),
  }
  return [
    ...Object.keys(request).filter((name) => !taken.includes(name)),
    ...Object.entries(partly).flatMap(([name, isSo]) => (isSo ? [name] : [])),
  ]
}

const isCheckerType = (type: string): type is CheckerType => Object.hasOwn(checkerNames, type)

/** Returns the draft of a request, as far as a draft can hold it. */
export function fromRequest(request: SubmissionRequest): Draft {
  const { checker, limits = {}, tests = [], files = [] } = request
  const figure = (value: number | undefined, unit = 1): string =>
    value === undefined ? '' : String(value / unit)
  return {
    ...emptyDraft,
    language: request.language,
    code: request.code,
    files: append<DraftFile>(
      [],
      files.flatMap(({ name, content, encoding }) =>
        encoding === 'base64' ? [] : [{ name, content }],
      ),
    ),
    outputFiles: (request.output_files ?? []).join('\n'),
    stdin: request.stdin_encoding === 'base64' ? '' : (request.stdin ?? ''),
    expected: request.expected_stdout ?? null,
    args: joinWords(request.args),
    compileArgs: joinWords(request.compile_args),
    cpuTime: figure(limits.cpu_time),
    wallTime: figure(limits.wall_time),
    memory: figure(limits.memory, mebibyte),
    tests: append<DraftTest>(
      [],
      tests.map(({ name = '', stdin = '', expected_stdout: expected = null }) => ({ name, stdin, expected })), // prettier-ignore
    ),
    ...(checker !== undefined && isCheckerType(checker.type) && { checker: checker.type }),
    ...(checker?.type === 'floats' && { tolerance: String(checker.absolute ?? checker.relative ?? emptyDraft.tolerance) }), // prettier-ignore
    stopOnFailure: request.stop_on_failure === true,
    lowPriority: request.priority === 'low',
    tag: request.tag ?? '',
  }
}

// Every word ends its line, so that an empty last word keeps a line of its own.
function joinWords(words: readonly string[] = []): string {
  return words.map((word) => `${word}\n`).join('')
}

/** Reads a draft that an earlier page stored. Ignores fields that are not valid any more. */
export function readDraft(text: string | null): Draft | null {
  try {
    const kept: unknown = JSON.parse(text ?? 'null')
    if (typeof kept !== 'object' || kept === null) return null
    const found = Object.entries(kept).filter(([name, value]) => {
      const usual: unknown = emptyDraft[name as keyof Draft]
      if (usual === undefined) return false
      if (name === 'expected') return value === null || typeof value === 'string'
      return typeof value === typeof usual && Array.isArray(value) === Array.isArray(usual)
    })
    return { ...emptyDraft, ...(Object.fromEntries(found) as Partial<Draft>) }
  } catch {
    return null
  }
}
