// Makes a submission's request of what a command line names: words, files, `NAME=VALUE`. What it may hold, the service says.
import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { basename, extname, isAbsolute, posix } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Checker, Limits, SubmissionRequest, SubmittedFile, Test } from '#client'
import { languages, languagesByExtension } from '#language'
import { checkOutputNames } from './output-files.ts'

/** `-` is standard input. */
export interface ProgramFiles {
  readonly file: string
  /** Told from the file's name when left out. */
  readonly language?: string | undefined
  /** Becomes the program's standard input. */
  readonly stdinFile?: string | undefined
}

/** All of a submission, as text from a command line. */
export interface RequestWords extends ProgramFiles {
  readonly expectedFile?: string | undefined
  readonly args?: readonly string[]
  readonly compileArgs?: readonly string[]
  /** The program's variables, each `NAME=VALUE`. */
  readonly env?: readonly string[]
  /** Relative paths of files, and their names beside the program. */
  readonly with?: readonly string[]
  /** Each `IN:OUT`, two files; without OUT any output will do. */
  readonly tests?: readonly string[]
  readonly stopOnFailure?: boolean
  /** A checker's name; `floats:1e-6` says how far numbers may lie apart, or so far as a part of what is expected. */
  readonly checker?: string | undefined
  /** Each `NAME=NUMBER`. */
  readonly limits?: readonly string[]
  readonly compileLimits?: readonly string[]
  /** Names of files that come back. */
  readonly outputFiles?: readonly string[]
  readonly network?: string | undefined
  /** Waits until no normal one does. */
  readonly isLow?: boolean
  readonly tag?: string | undefined
}

export const limitNames = [
  'cpu_time',
  'wall_time',
  'memory',
  'stdout',
  'stderr',
  'disk',
  'processes',
] as const satisfies readonly (keyof Limits)[]

export const checkerNames = ['lines', 'exact', 'tokens', 'unordered_lines'] as const

/** @throws {TypeError} when the words are wrong; {Error} when a file cannot be read, or is not UTF-8 and has to be. */
export async function readRequest(words: RequestWords): Promise<SubmissionRequest> {
  const { expectedFile, args = [], compileArgs = [], tests = [], outputFiles = [] } = words
  const { checker, tag } = words
  checkOutputNames(outputFiles)
  const [limits, compileLimits] = [
    readLimits('--limit', words.limits ?? []),
    readLimits('--compile-limit', words.compileLimits ?? []),
  ]
  const chosen = checker === undefined ? undefined : readChecker(checker)
  const files = await mapInOrder(words.with ?? [], readBeside)
  return {
    ...(await readProgram(words)),
    ...(expectedFile !== undefined && { expected_stdout: await readText(expectedFile) }),
    ...(args.length > 0 && { args }),
    ...(compileArgs.length > 0 && { compile_args: compileArgs }),
    ...((words.env ?? []).length > 0 && { env: readVariables(words.env ?? []) }),
    ...(files.length > 0 && { files }),
    ...(tests.length > 0 && { tests: await mapInOrder(tests, readTest) }),
    ...(words.stopOnFailure === true && { stop_on_failure: true }),
    ...(chosen !== undefined && { checker: chosen }),
    ...(limits !== null && { limits }),
    ...(compileLimits !== null && { compile_limits: compileLimits }),
    ...(outputFiles.length > 0 && { output_files: outputFiles }),
    ...(words.network !== undefined && { network: readNetwork(words.network) }),
    ...(words.isLow === true && { priority: 'low' as const }),
    ...(tag !== undefined && { tag }),
  }
}

/** @throws as readRequest. */
export async function readProgram(files: ProgramFiles): Promise<SubmissionRequest> {
  const { file, stdinFile } = files
  const language = files.language ?? languagesByExtension[extname(file).toLowerCase()]
  if (language === undefined) {
    throw new TypeError(
      `${basename(file)}: the language cannot be told from the name, use --language (${languages.join(', ')})`,
    )
  }
  return {
    language,
    code: await readText(file),
    ...(stdinFile !== undefined && { stdin: await readText(stdinFile) }),
  }
}

/** Sequential: the first mistake is told, and few files are open at once. */
async function mapInOrder<T>(
  words: readonly string[],
  read: (word: string) => Promise<T>,
): Promise<T[]> {
  const all: T[] = []
  for (const word of words) all.push(await read(word))
  return all
}

async function readText(file: string): Promise<string> {
  return decode(file, file === '-' ? await buffer(process.stdin) : await readFile(file))
}

function decode(file: string, bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Error(`${file}: is not UTF-8`)
  return bytes.toString()
}

async function readBeside(path: string): Promise<SubmittedFile> {
  if (isAbsolute(path) || path.split('/').includes('..'))
    throw new TypeError(`--with ${path}: must be a relative path that does not climb`)
  const bytes = await readFile(path)
  const name = posix.normalize(path)
  return isUtf8(bytes)
    ? { name, content: bytes.toString() }
    : { name, content: bytes.toString('base64'), encoding: 'base64' }
}

async function readTest(word: string): Promise<Test> {
  const colon = word.lastIndexOf(':')
  if (colon < 1)
    throw new TypeError(`--test ${word}: must be IN:OUT, or IN: when any output will do`)
  const [input, expected] = [word.slice(0, colon), word.slice(colon + 1)]
  return {
    name: basename(input),
    stdin: decode(input, await readFile(input)),
    ...(expected !== '' && { expected_stdout: decode(expected, await readFile(expected)) }),
  }
}

function readChecker(word: string): Checker {
  const named = checkerNames.find((name) => name === word)
  if (named !== undefined) return { type: named }
  const tolerance = readNumber(/^floats:(.*)$/s.exec(word)?.[1])
  if (tolerance === null)
    throw new TypeError(
      `--checker ${word}: must be ${checkerNames.join(', ')}, or floats: and a number such as floats:1e-6`,
    )
  return { type: 'floats', absolute: tolerance, relative: tolerance }
}

function readVariables(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.map((word) => {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(word) ?? []
      if (name === undefined || value === undefined)
        throw new TypeError(`--env ${word}: must be NAME=VALUE`)
      return [name, value]
    }),
  )
}

function readNetwork(word: string): 'none' | 'loopback' {
  if (word === 'none' || word === 'loopback') return word
  throw new TypeError(`--network ${word}: must be none or loopback`)
}

/** Null without any. */
function readLimits(option: string, words: readonly string[]): Limits | null {
  if (words.length === 0) return null
  return Object.fromEntries(
    words.map((word) => {
      const equals = word.indexOf('=')
      const name = limitNames.find((each) => each === word.slice(0, equals))
      const value = readNumber(word.slice(equals + 1))
      if (name === undefined || value === null)
        throw new TypeError(
          `${option} ${word}: must be NAME=NUMBER, NAME one of ${limitNames.join(', ')}`,
        )
      return [name, value]
    }),
  )
}

/** Null when it is none. */
function readNumber(text = ''): number | null {
  const number = Number(text)
  return text.trim() !== '' && Number.isFinite(number) ? number : null
}
