// Submissions as Judge0 shows them: by the fields that are asked for, texts as they are or as base64.
import { isUtf8 } from 'node:buffer'
import { zipSync } from 'fflate'
import type { Database } from '#database'
import { Problem } from '#error'
import { judge0Ids } from '#language'
import type { Language } from '#language'
import { decode, decodeFiles, decodeOptions } from '#options'
import type { Options } from '#options'
import { encodeLines, judge0Fields, readRequest, readResults, writeFields, toJudge0 } from '#result'
import type { ReceivedRequest, TrackedResult } from '#result'
import { withDeadline } from '../deadline.ts'
import { isUuid } from '../request.ts'
import type { ApiRequest } from '../request.ts'
import { nameLanguage } from './judge0-info.ts'

/** What goes with what was submitted. */
const requestFields = [
  'source_code',
  'stdin',
  'expected_output',
  'compiler_options',
  'command_line_arguments',
  'number_of_runs',
  'cpu_time_limit',
  'cpu_extra_time',
  'wall_time_limit',
  'memory_limit',
  'stack_limit',
  'max_processes_and_or_threads',
  'enable_per_process_and_thread_time_limit',
  'enable_per_process_and_thread_memory_limit',
  'max_file_size',
  'redirect_stderr_to_stdout',
  'callback_url',
  'additional_files',
  'enable_network',
] as const

const resultFields = [
  ...judge0Fields,
  'status_id',
  'language_id',
  'language',
  'exit_code',
  'exit_signal',
  'wall_time',
  'created_at',
  'finished_at',
] as const

const allFields: readonly string[] = [...requestFields, ...resultFields]
/** Ours, shown when they are asked for by name: clients refuse fields that they do not know. */
const ownFields: readonly string[] = ['fault', 'retry']

export interface Asked {
  readonly isBase64: boolean
  readonly fields: readonly string[]
}

/** Parameters that nobody knows are let pass, as Judge0 does. @throws {Problem} for fields that are not there. */
export function readAsked(request: ApiRequest): Asked {
  const query = new URLSearchParams(request.search)
  const named = (query.get('fields') ?? '').split(',').filter((name) => name !== '')
  const unknown = named.filter(
    (name) => name !== '*' && !allFields.includes(name) && !ownFields.includes(name),
  )
  if (unknown.length > 0)
    throw new Problem('invalid_request', `invalid fields: [${unknown.join(', ').slice(0, 500)}]`)
  return {
    isBase64: query.get('base64_encoded') === 'true',
    fields: named.includes('*')
      ? [...allFields, ...named.filter((name) => ownFields.includes(name))]
      : named.length > 0
        ? named
        : judge0Fields,
  }
}

export const notUtf8 =
  'some attributes for this submission cannot be converted to UTF-8, use base64_encoded=true query parameter'

function decodeText(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new Problem('invalid_request', notUtf8)
  return Buffer.from(bytes).toString()
}

/**
 * Reads an account's submissions by their tokens, each as Judge0 shows it; null for those that it has not, or whose texts
 * were removed. Rejects with a Problem when they are too large for one answer, or no UTF-8 that is to be.
 */
type Judge0Reader = (
  tokens: readonly string[],
  accountId: string,
  asked: Asked,
) => Promise<readonly (object | null)[]>

export function createJudge0Reader(database: Database): Judge0Reader {
  return async (tokens, accountId, { isBase64, fields }) => {
    const ids = [...new Set(tokens.filter(isUuid).map((token) => token.toLowerCase()))]
    const found = await withDeadline(() => readResults(database, ids, accountId, 'base64'))
    const requested = new Map<string, object>()
    if (fields.some((name) => (requestFields as readonly string[]).includes(name)))
      for (const id of found.keys()) {
        const received = await withDeadline(() => readRequest(database, id, accountId))
        if (received !== null && received !== 'purged') requested.set(id, describeRequest(received))
      }
    return tokens.map((token) => {
      const record = found.get(token.toLowerCase())
      if (record === null) throw new Problem('invalid_request', tooLarge)
      if (record === undefined || record.purged_at !== null) return null
      const values = { ...requested.get(record.id), ...describeRecord(record) }
      return writeFields(values, fields, isBase64 ? encodeLines : decodeText)
    })
  }
}

const tooLarge = 'The outputs are too large for one answer: ask for fewer submissions.'

function describeRecord(record: TrackedResult): object {
  const { language, runtime, fault, retry } = record
  const result = toJudge0(record)
  const id = judge0Ids[language as Language]?.[0] ?? null
  return {
    ...result,
    status_id: result.status.id,
    language_id: id,
    language: { id, name: nameLanguage(language, runtime) },
    fault,
    retry,
  }
}

/** Limits are those in force in the last attempt, or what was asked for before it. */
function describeRequest({ code, stdin, expectedStdout, detail, limits }: ReceivedRequest): object {
  const options = decodeOptions(detail)
  const run = { ...options.limits, ...limits?.run }
  const [test] = options.tests ?? []
  const seconds = (value: number | undefined): string | null =>
    value === undefined ? null : String(value)
  const kibibytes = (value: number | undefined): number | null =>
    value === undefined ? null : Math.round(value / 1024)
  return {
    source_code: code,
    stdin: test === undefined ? bytesOf(stdin) : decode(test.stdin ?? '', options.stdin_encoding),
    expected_output:
      test?.expected_stdout === undefined ? expectedStdout : Buffer.from(test.expected_stdout),
    compiler_options: joinWords(options.compile_args),
    command_line_arguments: joinWords(options.args),
    number_of_runs: options.tests?.length ?? 1,
    cpu_time_limit: seconds(run.cpu_time),
    cpu_extra_time: '0',
    wall_time_limit: seconds(run.wall_time),
    memory_limit: kibibytes(run.memory),
    stack_limit: kibibytes(run.memory),
    max_processes_and_or_threads: run.processes ?? null,
    enable_per_process_and_thread_time_limit: false,
    enable_per_process_and_thread_memory_limit: false,
    max_file_size: kibibytes(run.stdout),
    redirect_stderr_to_stdout: options.merge_stderr === true,
    enable_network: false,
    additional_files: zipFiles(options),
  }
}

function bytesOf(stdin: Uint8Array): Uint8Array | null {
  return stdin.byteLength === 0 ? null : stdin
}

function joinWords(words: readonly string[] = []): string | null {
  const quote = (word: string): string =>
    /^[\w./=:,+@%-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
  return words.length === 0 ? null : words.map(quote).join(' ')
}

function zipFiles({ files = [] }: Options): string | null {
  if (files.length === 0) return null
  const named = decodeFiles(files).map(({ name, content }) => [name, content] as const)
  return encodeLines(zipSync(Object.fromEntries(named), { level: 0 }))
}
