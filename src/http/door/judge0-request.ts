// Translates a submission of Judge0 to one of ours, or lists its mistakes with Judge0's names and messages.
import { isUtf8 } from 'node:buffer'
import * as v from 'valibot'
import type { TierLimits } from '#account'
import type { Issue } from '#error'
import { defaultLimits, judge0Ids } from '#language'
import type { Language } from '#language'
import type { LimitName } from '#options'
import { mostAllowed } from '../relations.ts'
import { readZip } from './judge0-zip.ts'
import { describeFile, describeLimits, dropNulls, hasCompiler } from './run.ts'
import { splitWords } from './words.ts'

export const runsMost = 20
/** Seconds. */
export const extraTimeMost = 5
/** KiB. Smaller stacks are refused, because only the memory limit bounds a stack here. */
export const usualStack = 64_000

const languagesById = new Map(
  Object.entries(judge0Ids).flatMap(([name, ids]) => ids.map((id) => [id, name as Language])),
)

const text = v.nullish(v.union([v.string(), v.pipe(v.number(), v.transform(String))], 'is invalid'))
const words = v.nullish(
  v.pipe(
    v.string('is invalid'),
    v.maxLength(512, 'is too long (maximum is 512 characters)'),
    v.transform((line) => line.replaceAll(/[$&;<>|`]/g, '')),
  ),
)
// Forms and Judge0's examples send numbers as text.
const number = v.nullish(
  v.pipe(
    v.union([v.number(), v.string()], 'is not a number'),
    v.transform((value) => (value === '' ? null : Number(value))),
    v.check((value) => value === null || Number.isFinite(value), 'is not a number'),
  ),
)
const within = (least: number, most: number) =>
  v.pipe(
    number,
    v.check((value) => (value ?? least) >= least, `must be greater than or equal to ${least}`),
    v.check((value) => (value ?? most) <= most, `must be less than or equal to ${most}`),
  )
const isTrue = (value: unknown): boolean =>
  ![undefined, null, false, 'false', 0, '0', ''].includes(value as null)
const flag = v.optional(v.pipe(v.unknown(), v.transform(isTrue)))
const never = (message: string) =>
  v.optional(
    v.pipe(
      v.unknown(),
      v.check((value) => !isTrue(value), message),
    ),
  )
const notEnabled = 'this option cannot be enabled'

/** The schema of each field by itself. Unknown fields are ignored, as Judge0 does. */
export const judge0Request = v.object(
  {
    source_code: text,
    language_id: number,
    stdin: text,
    expected_output: text,
    compiler_options: words,
    command_line_arguments: words,
    number_of_runs: within(1, runsMost),
    cpu_time_limit: number,
    cpu_extra_time: within(0, extraTimeMost),
    wall_time_limit: number,
    memory_limit: number,
    max_processes_and_or_threads: number,
    max_file_size: number,
    stack_limit: v.pipe(
      number,
      v.check(
        (value) => (value ?? 0) === 0 || (value ?? 0) >= usualStack,
        `must be greater than or equal to ${usualStack}, or 0`,
      ),
    ),
    enable_per_process_and_thread_time_limit: never(notEnabled),
    enable_per_process_and_thread_memory_limit: never(notEnabled),
    redirect_stderr_to_stdout: flag,
    enable_network: never('enabling network is not allowed'),
    callback_url: v.nullish(v.string('is invalid')),
    additional_files: v.nullish(v.string('is invalid')),
  },
  'must be a JSON object',
)

type Judge0Request = v.InferOutput<typeof judge0Request>

/** Judge0's limits and the API's names of them. `unit` multiplies Judge0's figure to get ours, in seconds or bytes. */
const limitRules = [
  { field: 'cpu_time_limit', name: 'cpu_time', unit: 1, least: 0.001 },
  { field: 'wall_time_limit', name: 'wall_time', unit: 1, least: 1 },
  { field: 'memory_limit', name: 'memory', unit: 1024, least: 16_384 },
  { field: 'max_processes_and_or_threads', name: 'processes', unit: 1, least: 1 },
  { field: 'max_file_size', name: 'stdout', unit: 1024, least: 1 },
] as const

/** Judge0's name for each field of the API. */
export const judge0Names = {
  language: 'language_id',
  code: 'source_code',
  expected_stdout: 'expected_output',
  args: 'command_line_arguments',
  compile_args: 'compiler_options',
  files: 'additional_files',
  tests: 'number_of_runs',
  webhook_url: 'callback_url',
  ...Object.fromEntries(limitRules.map(({ field, name }) => [`limits.${name}`, field])),
}

/** A placeholder, because Judge0's callbacks are not signed. */
const noSecret = 'judge0'

/** Translates a request to a submission, which the API checks next. @param isBase64 texts are base64. */
export function translateRequest(
  asked: Judge0Request,
  isBase64: boolean,
  allowed: TierLimits,
): { readonly submission: object; readonly issues: readonly Issue[] } {
  const issues: Issue[] = []
  const refuse = (path: keyof Judge0Request, message: string): undefined => {
    issues.push({ path, message })
  }
  const decode = (field: 'source_code' | 'expected_output'): string | undefined => {
    const given = asked[field]
    if (given === null || given === undefined) return undefined
    if (!isBase64) return given
    const bytes = Buffer.from(given, 'base64')
    return isUtf8(bytes) ? bytes.toString() : refuse(field, 'is not UTF-8')
  }
  const split = (field: 'compiler_options' | 'command_line_arguments'): string[] | undefined => {
    const line = asked[field] ?? ''
    return line.trim() === '' ? undefined : (splitWords(line) ?? refuse(field, 'has an open quote'))
  }

  const id = asked.language_id ?? null
  const language = id === null ? undefined : languagesById.get(id)
  if (id === null) refuse('language_id', "can't be blank")
  else if (language === undefined) refuse('language_id', `language with id ${id} doesn't exist`)
  if ((asked.source_code ?? '') === '') refuse('source_code', "can't be blank")
  const compileArgs = split('compiler_options')
  if (compileArgs !== undefined && language !== undefined && !hasCompiler(language))
    refuse('compiler_options', 'setting compiler options is only allowed for compiled languages')

  const files = asked.additional_files ? readZip(Buffer.from(asked.additional_files, 'base64')) : []
  if (typeof files === 'string') refuse('additional_files', files)
  const limits = language === undefined ? {} : translateLimits(asked, language, allowed, refuse)
  const submission = {
    language,
    code: decode('source_code'),
    output_encoding: 'base64',
    stdin_encoding: 'base64',
    ...repeat(asked.number_of_runs ?? 1, {
      stdin: isBase64 ? tidy(asked.stdin) : Buffer.from(asked.stdin ?? '').toString('base64'),
      expected_stdout: decode('expected_output'),
    }),
    merge_stderr: asked.redirect_stderr_to_stdout === true ? true : undefined,
    args: split('command_line_arguments'),
    compile_args: compileArgs,
    ...(typeof files !== 'string' &&
      files.length > 0 && {
        files: files.map(({ name, content }) => describeFile(name, content)),
      }),
    ...describeLimits(limits),
    ...(asked.callback_url && { webhook_url: asked.callback_url, webhook_secret: noSecret }),
  }
  return { submission: dropNulls(submission), issues }
}

/** Normalizes base64. Invalid base64 is read as Ruby reads it: characters outside the alphabet are ignored. */
function tidy(base64: string | null | undefined): string {
  return Buffer.from(base64 ?? '', 'base64').toString('base64')
}

/** Describes repeated runs as tests with the same input, of which the first failing one is the last. */
function repeat(
  times: number,
  run: { readonly stdin: string; readonly expected_stdout: string | undefined },
): object {
  const given = dropNulls(run)
  return times === 1
    ? given
    : { tests: Array.from({ length: Math.trunc(times) }, () => given), stop_on_failure: true }
}

function translateLimits(
  asked: Judge0Request,
  language: Language,
  allowed: TierLimits,
  refuse: (field: keyof Judge0Request, message: string) => undefined,
): Partial<Record<LimitName, number>> {
  const usual = defaultLimits[language].run
  const limits: Partial<Record<LimitName, number>> = {}
  for (const { field, name, unit, least } of limitRules) {
    const value = asked[field]
    if (value === null || value === undefined) continue
    const most = mostAllowed(name, usual, allowed) / unit
    if (value < least) refuse(field, `must be greater than or equal to ${least}`)
    if (value > most) refuse(field, `must be less than or equal to ${most}`)
    limits[name] = name.endsWith('time') ? value : Math.trunc(value) * unit
  }
  if (limits.stdout !== undefined)
    limits.stderr = Math.min(limits.stdout, mostAllowed('stderr', usual, allowed))
  return limits
}
