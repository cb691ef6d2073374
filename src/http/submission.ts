// Validates a submission request, reporting all breaches at once.
import * as v from 'valibot'
import type { TierLimits } from '#account'
import type { Detail, Submission } from '#enqueue'
import type { Issue } from '#error'
import type { Language } from '#language'
import { hasPublicHost } from '#webhook-address'
import type { AddressRange } from '#webhook-address'
import { detailEntries } from './detail-field.ts'
import { readDetail } from './detail.ts'
import { findUnknown, judgeDetail } from './judge-detail.ts'
import { languageSchema } from './language-name.ts'
import { byteLength, decode, wellFormedText, wellFormedTextWithoutNul } from './text.ts'
import { webhookSecret } from './webhook-secret.ts'

/** UTF-8, for code, stdin and expected_stdout each. */
const textLimitBytes = 65_536
const urlLimit = 8192
/** Four times what DNS allows. */
const hostLimit = 1024
// Of a hostile body's hundred thousand unknown fields with long names.
const namedFields = 50
const namedCharacters = 100
// Of everything that is wrong; a body of 28 kB could have thirteen thousand.
const issuesMost = 100

const boundedText = (description: string) =>
  v.pipe(
    wellFormedText,
    v.check(
      (text) => byteLength(text) <= textLimitBytes,
      `is larger than ${textLimitBytes} bytes of UTF-8`,
    ),
    v.metadata({ description, maxLength: textLimitBytes }),
  )

const webhookUrl = (allowedRanges: readonly AddressRange[]) =>
  v.pipe(
    wellFormedTextWithoutNul,
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      for (const message of judgeUrl(dataset.value, allowedRanges)) addIssue({ message })
    }),
    v.metadata({
      description: `Where the final record is POSTed, as Standard Webhooks 1.0 words it. https: only; no user name or password; no literal of an address that is not public; a host of at most ${hostLimit.toLocaleString('en')} characters. On a port that the service's workers may reach: 443, unless its operator allows others.`,
      format: 'uri',
      maxLength: urlLimit,
    }),
  )

/** Parsing takes the square of the host's length, so too long a URL is not parsed. */
function judgeUrl(text: string, allowedRanges: readonly AddressRange[]): string[] {
  if (text.length > urlLimit) return [`is longer than ${urlLimit} characters`]
  if (authorityOf(text).length > hostLimit)
    return [`must not have a host of more than ${hostLimit} characters`]
  const url = URL.parse(text)
  if (url === null) return ['must be an https: URL']
  const faults: readonly (readonly [boolean, string])[] = [
    [url.protocol !== 'https:', 'must be an https: URL'],
    [url.username !== '' || url.password !== '', 'must not hold a user name or password'],
    [!hasPublicHost(url, allowedRanges), 'must not name an address that is not public'],
  ]
  return faults.filter(([isSo]) => isSo).map(([, message]) => message)
}

/** The part before an https: URL's path, even without slashes; other texts have no host. */
function authorityOf(text: string): string {
  // The parser drops these anywhere.
  const [first = '', second = ''] = text.replace(/[\t\n\r]/g, '').split(/[/\\?#]+/, 2)
  const rest = first.slice(first.indexOf(':') + 1)
  return rest === '' ? second : rest
}

/** Unknown fields are refused beside it, each by its name. */
// eslint-disable-next-line typescript/explicit-module-boundary-types -- the type is the schema, told twice it would drift
export const createSubmissionSchema = (allowedRanges: readonly AddressRange[]) =>
  v.object({
    language: languageSchema,
    code: boundedText('The source. At most 65,536 bytes of UTF-8; any Unicode, NUL included.'),
    // Client generators would make a field with a default required.
    stdin: v.optional(
      v.pipe(
        wellFormedText,
        v.description(
          "The program's standard input; empty unless given. At most 65,536 bytes, decoded.",
        ),
      ),
    ),
    expected_stdout: v.optional(
      boundedText(
        'With it, a clean exit whose output differs is WA. White space at line ends and empty lines at the end do not count. At most 65,536 bytes of UTF-8.',
      ),
    ),
    webhook_url: v.optional(webhookUrl(allowedRanges)),
    webhook_secret: v.optional(webhookSecret),
    ...detailEntries,
  })

/** The value, or everything wrong with it. */
export type Parsed<T> =
  | { readonly value: T; readonly issues: readonly [] }
  | { readonly value: null; readonly issues: readonly Issue[] }

/** A submission as it was read, and what of it has to be looked up: also where something else is wrong with it. */
export type ParsedSubmission = Parsed<Submission> & {
  /** undefined: none, or not one of ours. */
  readonly language: Language | undefined
  readonly detail: Detail
}

/** Each field by itself, so that what holds between the good ones is told beside what is wrong with the others. */
function parseFields<Entries extends v.ObjectEntries>(
  entries: Entries,
  input: object,
): {
  readonly output: Partial<v.InferOutput<v.ObjectSchema<Entries, undefined>>>
  readonly issues: readonly Issue[]
} {
  const output: Record<string, unknown> = {}
  const issues: Issue[] = []
  for (const [name, entry] of Object.entries(entries)) {
    const isGiven = Object.hasOwn(input, name)
    if (!isGiven && entry.type === 'optional') continue
    const parsed = v.safeParse(entry, isGiven ? input[name as keyof typeof input] : undefined)
    if (parsed.success) output[name] = parsed.output
    for (const issue of parsed.issues ?? []) {
      const path = [name, v.getDotPath(issue)].filter((part) => part !== null).join('.')
      issues.push({ path, message: issue.received === 'undefined' ? 'is required' : issue.message })
    }
  }
  return { output: output as Partial<v.InferOutput<v.ObjectSchema<Entries, undefined>>>, issues }
}

/** @param allowedRanges non-public ranges that webhooks may reach. */
export function createSubmissionParser(
  allowedRanges: readonly AddressRange[],
): (input: unknown, allowed: TierLimits) => ParsedSubmission {
  const schema = createSubmissionSchema(allowedRanges)

  return (input, allowed) => {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      const issues = [{ path: '', message: 'must be a JSON object' }]
      return { value: null, issues, language: undefined, detail: {} }
    }
    const { output, issues: fieldIssues } = parseFields(schema.entries, input)
    // By hand: a strict schema reports only the first unknown key and accepts `__proto__`.
    const unknown = [
      ...Object.keys(input).filter((key) => !Object.hasOwn(schema.entries, key)),
      ...findUnknown(input as Readonly<Record<string, unknown>>),
    ]
    const issues: Issue[] = unknown.slice(0, namedFields).map((key) => ({
      path: key.slice(0, namedCharacters).toWellFormed(),
      message: 'is not a field of a submission',
    }))
    if (unknown.length > namedFields) {
      const more = unknown.length - namedFields
      issues.push({ path: '', message: `holds ${more} more unknown fields` })
    }
    issues.push(...fieldIssues)
    const has = (key: keyof typeof schema.entries): boolean => Object.hasOwn(input, key)
    if (has('webhook_url') && !has('webhook_secret')) {
      issues.push({ path: 'webhook_secret', message: 'is required with webhook_url' })
    }
    if (has('webhook_secret') && !has('webhook_url')) {
      issues.push({ path: 'webhook_url', message: 'is required with webhook_secret' })
    }
    issues.push(...judgeStdin(output.stdin ?? '', output.stdin_encoding))
    issues.push(...judgeDetail(output.language, output, allowed, has))
    const detail = readDetail(output)
    if (issues.length > 0) return { value: null, issues, language: output.language, detail }

    const {
      webhook_url: url,
      webhook_secret: secret,
      expected_stdout: expected,
      ...rest
    } = output as v.InferOutput<typeof schema>
    return {
      value: {
        language: rest.language,
        code: Buffer.from(rest.code),
        stdin: decode(rest.stdin ?? '', rest.stdin_encoding) ?? Buffer.alloc(0),
        expectedStdout: expected === undefined ? null : Buffer.from(expected),
        detail,
        tag: rest.tag ?? null,
        priority: rest.priority ?? 'normal',
        outputEncoding: rest.output_encoding ?? 'utf8',
        blobs: [],
        webhook: url === undefined || secret === undefined ? null : { url, secret },
      },
      issues: [],
      language: rest.language,
      detail,
    }
  }
}

/** With what was found wrong later. */
export function addIssues(parsed: ParsedSubmission, found: readonly Issue[]): ParsedSubmission {
  if (found.length === 0) return parsed
  return { ...parsed, value: null, issues: [...parsed.issues, ...found] }
}

/** Of very many few are told. */
export function shorten(parsed: ParsedSubmission): ParsedSubmission {
  if (parsed.value !== null || parsed.issues.length <= issuesMost) return parsed
  const message = `holds ${parsed.issues.length - issuesMost} more mistakes`
  return { ...parsed, issues: [...parsed.issues.slice(0, issuesMost), { path: '', message }] }
}

function judgeStdin(text: string, encoding: 'utf8' | 'base64' | undefined): Issue[] {
  const bytes = decode(text, encoding)
  if (bytes === null) return [{ path: 'stdin', message: 'is not base64' }]
  if (bytes.byteLength <= textLimitBytes) return []
  const unit = encoding === 'base64' ? 'bytes' : 'bytes of UTF-8'
  return [{ path: 'stdin', message: `is larger than ${textLimitBytes} ${unit}` }]
}
