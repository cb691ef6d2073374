// Submissions as Judge0 shows them: the requested fields, with texts as they are or in base64.
import { isUtf8 } from 'node:buffer'
import { zipSync } from 'fflate'
import type { Database } from '#database'
import { judge0Ids } from '#language'
import type { Language } from '#language'
import { decode, decodeFiles, decodeOptions } from '#options'
import type { Options } from '#options'
import { encodeLines, judge0Fields, readRequest, readResults, writeFields, toJudge0 } from '#result'
import type { ReceivedRequest, TrackedResult } from '#result'
import { withDeadline } from '../problem.ts'
import { listIds } from '../request.ts'
import type { ApiRequest } from '../request.ts'
import { nameLanguage } from './judge0-info.ts'
import { refuse } from './run.ts'

interface Asking extends Pick<ReceivedRequest, 'code' | 'stdin' | 'expectedStdout'> {
  readonly options: Options
  /** The limits in force in the last attempt, or the requested limits before the first attempt. */
  readonly run: NonNullable<Options['limits']>
}

/** The fields of Judge0 that repeat what was submitted, and how each is read. */
const requestFields: Readonly<Record<string, (asking: Asking) => unknown>> = {
  source_code: ({ code }) => code,
  stdin: ({ stdin, options: { tests: [test] = [], stdin_encoding: encoding } }) =>
    test === undefined ? bytesOf(stdin) : decode(test.stdin ?? '', encoding),
  expected_output: ({ expectedStdout, options: { tests: [test] = [] } }) =>
    test?.expected_stdout === undefined ? expectedStdout : Buffer.from(test.expected_stdout),
  compiler_options: ({ options }) => joinWords(options.compile_args),
  command_line_arguments: ({ options }) => joinWords(options.args),
  number_of_runs: ({ options }) => options.tests?.length ?? 1,
  cpu_time_limit: ({ run }) => run.cpu_time?.toString(),
  cpu_extra_time: () => '0',
  wall_time_limit: ({ run }) => run.wall_time?.toString(),
  memory_limit: ({ run }) => toKibibytes(run.memory),
  stack_limit: ({ run }) => toKibibytes(run.memory),
  max_processes_and_or_threads: ({ run }) => run.processes,
  enable_per_process_and_thread_time_limit: () => false,
  enable_per_process_and_thread_memory_limit: () => false,
  max_file_size: ({ run }) => toKibibytes(run.stdout),
  redirect_stderr_to_stdout: ({ options }) => options.merge_stderr === true,
  callback_url: () => null,
  additional_files: ({ options }) => zipFiles(options),
  enable_network: () => false,
}

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

const allFields: readonly string[] = [...Object.keys(requestFields), ...resultFields]
/** Fields of ours. They are shown only when requested by name, because clients refuse fields that they do not know. */
const ownFields: readonly string[] = ['fault', 'retry']

export interface Asked {
  readonly isBase64: boolean
  readonly fields: readonly string[]
}

/** Reads the query. Unknown parameters are ignored, as Judge0 does. @throws {Problem} for unknown fields. */
export function readAsked(request: ApiRequest): Asked {
  const query = new URLSearchParams(request.search)
  const named = (query.get('fields') ?? '').split(',').filter((name) => name !== '')
  const unknown = named.filter(
    (name) => name !== '*' && !allFields.includes(name) && !ownFields.includes(name),
  )
  if (unknown.length > 0) throw refuse(`invalid fields: [${unknown.join(', ').slice(0, 500)}]`)
  return {
    isBase64: query.get('base64_encoded') === 'true',
    fields:
      named.length === 0
        ? judge0Fields
        : named.flatMap((name) => (name === '*' ? allFields : [name])),
  }
}

export const notUtf8 =
  'some attributes for this submission cannot be converted to UTF-8, use base64_encoded=true query parameter'

function decodeText(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw refuse(notUtf8)
  return Buffer.from(bytes).toString()
}

/**
 * Reads an account's submissions by their tokens, each as Judge0 shows it; null for an unknown token and for a submission whose
 * texts were removed. Rejects with a Problem when texts are too large for one answer, or not UTF-8 and not asked for in base64.
 */
export async function readSubmissions(
  database: Database,
  tokens: readonly string[],
  accountId: string,
  { isBase64, fields }: Asked,
): Promise<readonly (object | null)[]> {
  const ids = listIds(tokens)
  const found = await withDeadline(() => readResults(database, ids, accountId, 'base64'))
  const requested = new Map<string, object>()
  if (fields.some((name) => Object.hasOwn(requestFields, name)))
    for (const id of found.keys()) {
      const received = await withDeadline(() => readRequest(database, id, accountId))
      if (received !== null && received !== 'purged') requested.set(id, describeRequest(received))
    }
  return tokens.map((token) => {
    const record = found.get(token.toLowerCase())
    if (record === null)
      throw refuse('The outputs are too large for one answer: ask for fewer submissions.')
    if (record === undefined || record.purged_at !== null) return null
    const values = { ...requested.get(record.id), ...describeRecord(record) }
    return writeFields(values, fields, isBase64 ? encodeLines : decodeText)
  })
}

function describeRecord(record: TrackedResult): object {
  const { language, runtime, fault, retry } = record
  const id = judge0Ids[language as Language]?.[0] ?? null
  return {
    ...toJudge0(record),
    language_id: id,
    language: { id, name: nameLanguage(language, runtime) },
    fault,
    retry,
  }
}

function describeRequest({ detail, limits, ...received }: ReceivedRequest): object {
  const options = decodeOptions(detail)
  const asking = { ...received, options, run: { ...options.limits, ...limits?.run } }
  return Object.fromEntries(
    Object.entries(requestFields).map(([name, read]) => [name, read(asking)]),
  )
}

function toKibibytes(bytes: number | undefined): number | null {
  return bytes === undefined ? null : Math.round(bytes / 1024)
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
