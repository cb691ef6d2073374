// Makes a submission's request of the words, files and `NAME=VALUE` pairs of a command line. The service checks the values.
import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { basename, extname, isAbsolute, posix } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Checker, Limits, SubmissionRequest, SubmittedFile, Test } from '#client'
import { languages, languagesByExtension, limitSpellings } from '#language'
import { flag, takes } from './command.ts'
import type { Values } from './command.ts'

const limitNames: readonly (keyof Limits)[] = Object.values(limitSpellings)

const checkerNames = ['lines', 'exact', 'tokens', 'unordered_lines'] as const

const many: { readonly multiple: true; readonly default: string[] } = {
  multiple: true,
  default: [],
}

/** The options that make a request. `-` is standard input. */
export const requestOptions = {
  language: takes('LANGUAGE', `${languages.join(', ')}; default: by the file’s name`),
  stdin: takes('FILE', 'the program’s standard input'),
  expected: takes('FILE', 'what the program should print'),
  arg: takes('WORD', 'an argument of the program', many),
  'compile-arg': takes('WORD', 'an argument of the compiler, after its usual ones', many),
  env: takes('NAME=VALUE', 'a variable of the program', many),
  with: takes('FILE', 'placed next to the program under the same relative path', many),
  test: takes('IN:OUT', 'two files, input and expected output; IN: accepts any output', many),
  'output-file': takes('NAME', 'a file the program writes; it is returned and saved under the same name', many), // prettier-ignore
  'output-directory': takes('DIRECTORY', 'where the output files are saved (default: here)'),
  'stop-on-failure': flag('run no test after the first that is not AC'),
  checker: takes('CHECKER', `${checkerNames.join(', ')}, or floats:1e-6: numbers may differ by this much, absolute or relative`), // prettier-ignore
  limit: takes('NAME=NUMBER', `${limitNames.join(', ')}; times in seconds, sizes in bytes`, many),
  'compile-limit': takes('NAME=NUMBER', 'the same for the compiler', many),
  'merge-stderr': flag('add the program’s stderr to its stdout, in the order of writing'),
  network: takes('NETWORK', 'none, or loopback: 127.0.0.1 and ::1'),
  low: flag('run after all normal submissions'),
  tag: takes('TEXT', 'a text in the record, by which lists can be filtered'),
}

/** A submission in the words of a command line. */
export interface RequestWords extends Partial<Values<typeof requestOptions>> {
  readonly file: string
}

/**
 * Makes a request and reads its files.
 * @throws {TypeError} when the words are wrong; {Error} when a file cannot be read, or must be UTF-8 and is not.
 */
export async function readRequest(words: RequestWords): Promise<SubmissionRequest> {
  const { expected, checker, network } = words
  for (const name of words['output-file'] ?? []) checkPath('--output-file', name)
  // Array.fromAsync reads one file after another, so that the first mistake is reported and few files are open at once.
  return dropEmpty({
    limits: readLimits('--limit', words.limit),
    compile_limits: readLimits('--compile-limit', words['compile-limit']),
    checker: checker === undefined ? undefined : readChecker(checker),
    files: await Array.fromAsync(words.with ?? [], readBeside),
    ...(await readProgram(words)),
    expected_stdout: expected === undefined ? undefined : await readText(expected),
    args: words.arg,
    compile_args: words['compile-arg'],
    env: readVariables(words.env),
    tests: await Array.fromAsync(words.test ?? [], readTest),
    stop_on_failure: words['stop-on-failure'],
    output_files: words['output-file'],
    merge_stderr: words['merge-stderr'],
    network: network === undefined ? undefined : readNetwork(network),
    priority: words.low === true ? 'low' : undefined,
    tag: words.tag,
  })
}

/** Leaves out the fields that the command line does not set. */
function dropEmpty(fields: {
  readonly [Name in keyof SubmissionRequest]: SubmissionRequest[Name] | undefined | false
}): SubmissionRequest {
  const isGiven = ([, value]: [string, unknown]): boolean =>
    typeof value === 'object'
      ? Object.keys(value ?? {}).length > 0
      : value !== undefined && value !== false
  return Object.fromEntries(Object.entries(fields).filter(isGiven)) as unknown as SubmissionRequest
}

/** Reads the program, its language and its stdin. @throws as readRequest. */
export async function readProgram({
  file,
  language = languagesByExtension[extname(file).toLowerCase()],
  stdin,
}: Pick<RequestWords, 'file' | 'language' | 'stdin'>): Promise<SubmissionRequest> {
  if (language === undefined)
    throw new TypeError(
      `${basename(file)}: the name does not show the language; use --language (${languages.join(', ')})`,
    )
  const code = await readText(file)
  return { language, code, ...(stdin !== undefined && { stdin: await readText(stdin) }) }
}

async function readText(file: string): Promise<string> {
  return decode(file, file === '-' ? await buffer(process.stdin) : await readFile(file))
}

function decode(file: string, bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Error(`${file}: is not UTF-8`)
  return bytes.toString()
}

async function readBeside(path: string): Promise<SubmittedFile> {
  checkPath('--with', path)
  const bytes = await readFile(path)
  const name = posix.normalize(path)
  return isUtf8(bytes)
    ? { name, content: bytes.toString() }
    : { name, content: bytes.toString('base64'), encoding: 'base64' }
}

/** Checks the path of an option. @throws {TypeError} for a path that is absolute or has `..` in it. */
function checkPath(option: string, path: string): void {
  if (isAbsolute(path) || path.split('/').includes('..'))
    throw new TypeError(`${option} ${path}: must be a relative path without ".."`)
}

async function readTest(word: string): Promise<Test> {
  const colon = word.lastIndexOf(':')
  if (colon < 1) throw new TypeError(`--test ${word}: must be IN:OUT, or IN: to accept any output`)
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

function readVariables(words: readonly string[] = []): Record<string, string> {
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

function readLimits(option: string, words: readonly string[] = []): Limits {
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

/** Reads a finite number; null for any other text. */
function readNumber(text = ''): number | null {
  const number = Number(text)
  return text.trim() !== '' && Number.isFinite(number) ? number : null
}
