// Parses a submission request: the schema that POST /api/submit, a batch and the OpenAPI document share, and the checks that
// list every issue of a request. All blobs that a request names must exist, and their total size is bounded.
import * as v from 'valibot'
import type { Caller, TierLimits } from '#account'
import { findBlobs } from '#blob'
import type { Database } from '#database'
import type { Submission } from '#enqueue'
import type { Issue } from '#error'
import { defaultLimits } from '#language'
import { decode, fields, fits, languageSchema, optionEntries } from '#options'
import { validate, wellFormedText } from '#options'
import type { Checked, Options } from '#options'
import { described } from '#schema'
import type { HttpContext } from './http.ts'
import { createListOnce } from './offered.ts'
import { withDeadline } from './problem.ts'
import { followWall, judgeRelations } from './relations.ts'
import { judgeWebhook, webhookEntries } from './webhook.ts'
import type { WebhookRules } from './webhook.ts'

/** Bytes of UTF-8; the limit of code, stdin and expected_stdout each. */
const textLimitBytes = 65_536

const boundedText = (description: string) =>
  v.pipe(
    wellFormedText,
    fits(textLimitBytes),
    v.metadata({ description, maxLength: textLimitBytes }),
  )

export const submissionEntries = {
  language: languageSchema,
  code: boundedText('The source code. At most 65,536 bytes of UTF-8; any Unicode, including NUL.'),
  // No default, because client generators would make the field required.
  stdin: v.optional(
    described(
      wellFormedText,
      "The program's standard input. At most 65,536 bytes, decoded. The default is empty.",
    ),
  ),
  expected_stdout: v.optional(
    boundedText(
      'The expected output. If it is given, a clean exit with a different output is WA. White space at line ends and empty lines at the end are ignored. At most 65,536 bytes of UTF-8.',
    ),
  ),
  ...webhookEntries,
  ...optionEntries,
} as const

export const submissionSchema = fields(submissionEntries, 'a submission', 'must be a JSON object')

type Given = v.InferOutput<typeof submissionSchema>

/** Makes the checks that need no database. */
export function readSubmission(
  input: unknown,
  allowed: TierLimits,
  rules: WebhookRules,
): Checked<Given> {
  const { value, sound, issues: found } = validate(submissionSchema, input)
  const own = typeof input === 'object' && !Array.isArray(input) ? (input ?? {}) : {}
  const has = (name: string): boolean => Object.hasOwn(own, name)
  const issues = [
    ...found,
    ...judgeWebhook(sound.webhook_url, rules, has),
    ...judgeStdin(sound),
    ...judgeRelations(sound, allowed, has),
  ]
  return { value: issues.length === 0 ? value : null, sound, issues }
}

/** Returns the submission, or every issue of the request. */
export async function parseSubmission(
  { database, offered, webhookRules }: HttpContext,
  input: unknown,
  { accountId, limits }: Caller,
): Promise<Omit<Checked<Submission>, 'sound'>> {
  const { value, sound, issues: found } = readSubmission(input, limits, webhookRules)
  const absent = await offered.judge({
    language: sound.language,
    checkerLanguage: sound.checker?.type === 'program' ? sound.checker.language : undefined,
    interactorLanguage: sound.interactor?.language,
  })
  const blobs = await findNamedBlobs(database, accountId, sound)
  const issues = createListOnce()([...offered.explain(found), ...absent, ...blobs.issues])
  if (value === null || issues.length > 0) return { value: null, issues }
  const { compile, run } = defaultLimits[value.language]
  const whole = {
    ...value,
    ...(value.limits && { limits: followWall(value.limits, run, limits) }),
    ...(value.compile_limits && {
      compile_limits: followWall(value.compile_limits, compile, limits),
    }),
  }
  return { value: toSubmission(whole, blobs.found), issues: [] }
}

function judgeStdin({ stdin = '', stdin_encoding: encoding }: Partial<Given>): Issue[] {
  const bytes = decode(stdin, encoding)
  if (bytes === null) return [{ path: 'stdin', message: 'is not base64' }]
  if (bytes.byteLength <= textLimitBytes) return []
  const unit = encoding === 'base64' ? 'bytes' : 'bytes of UTF-8'
  return [{ path: 'stdin', message: `is larger than ${textLimitBytes} ${unit}` }]
}

function toSubmission(given: Given, blobs: Submission['blobs']): Submission {
  const { language, code, stdin = '', expected_stdout: expected, ...rest } = given
  const {
    webhook_url: url,
    webhook_secret: secret,
    tag = null,
    priority = 'normal',
    ...more
  } = rest
  const { output_encoding: outputEncoding = 'utf8', ...asked } = more
  const { stdin_encoding: encoding, ...others } = asked
  // Without tests the input is stored as bytes, so its encoding is dropped.
  const options: Options = others.tests === undefined ? others : asked
  return {
    language,
    code: Buffer.from(code),
    stdin: decode(stdin, encoding) ?? Buffer.alloc(0),
    expectedStdout: expected === undefined ? null : Buffer.from(expected),
    options,
    tag,
    priority,
    outputEncoding,
    blobs,
    webhook: url === undefined || secret === undefined ? null : { url, secret },
  }
}

/**
 * A blob counts each time that it is named, because each run reads it again. A worker holds the blobs of one run at a time,
 * 32 MiB at most; this limit bounds how long a worker reads for one submission.
 */
const namedBytesMost = 64 * 1024 * 1024

/** Finds the named blobs. @param given fields that are valid by themselves. */
async function findNamedBlobs(
  database: Database,
  accountId: string,
  given: Options,
): Promise<{ readonly found: Submission['blobs']; readonly issues: readonly Issue[] }> {
  const namings = [...listNamings(given)]
  if (namings.length === 0) return { found: [], issues: [] }
  const names = new Set(namings.map(({ name }) => name))
  const sizes = await withDeadline(() => findBlobs(database, accountId, names))
  const found = Array.from(sizes, ([sha256, bytes]) => ({ sha256, bytes }))
  return { found, issues: judgeNamings(namings, sizes) }
}

interface Naming {
  readonly path: string
  readonly name: string
}

function* listNamings({
  tests = [],
  ...given
}: Pick<Options, 'stdin_sha256' | 'expected_stdout_sha256' | 'tests'>): Generator<Naming> {
  for (const path of ['stdin_sha256', 'expected_stdout_sha256'] as const) {
    const name = given[path]
    if (name !== undefined) yield { path, name }
  }
  for (const [index, test] of tests.entries())
    for (const { path, name } of listNamings(test)) yield { path: `tests.${index}.${path}`, name }
}

function judgeNamings(namings: readonly Naming[], sizes: ReadonlyMap<string, number>): Issue[] {
  const issues = namings
    .filter(({ name }) => !sizes.has(name))
    .map(({ path }) => ({ path, message: 'names no blob of this account: upload it first' }))
  const bytes = namings.reduce((sum, { name }) => sum + (sizes.get(name) ?? 0), 0)
  if (bytes > namedBytesMost) {
    const message = `names blobs of ${bytes} bytes in all, where a blob counts each time it is named; at most ${namedBytesMost} are allowed`
    issues.push({ path: '', message })
  }
  return issues
}
