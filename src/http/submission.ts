// What a submission request may look like: every rule of the contract's field table, every breach reported at once.
import * as v from 'valibot'
import type { Issue } from '#error'
import type { Submission } from '#enqueue'
import { hasPublicHost } from '#webhook-address'
import type { AddressRange } from '#webhook-address'

/** Bytes of UTF-8 at most for code, stdin and expected_stdout. */
const textLimitBytes = 65_536
const secretLimitBytes = 256

/** Accepted names of a language and the one they fold to. */
export const languageAliases = {
  python: 'python',
  py: 'python',
  cpp: 'cpp',
  'c++': 'cpp',
  cxx: 'cpp',
  java: 'java',
} as const

const byteLength = (text: string): number => Buffer.byteLength(text, 'utf8')

const wellFormedText = v.pipe(
  v.string('must be a string'),
  v.check((text) => text.isWellFormed(), 'holds a lone surrogate, which has no UTF-8'),
)

const boundedText = v.pipe(
  wellFormedText,
  v.check(
    (text) => byteLength(text) <= textLimitBytes,
    `is larger than ${textLimitBytes} bytes of UTF-8`,
  ),
)

const language = v.pipe(
  v.picklist(
    Object.keys(languageAliases) as (keyof typeof languageAliases)[],
    `must be one of ${Object.keys(languageAliases).join(', ')}`,
  ),
  v.transform((name) => languageAliases[name]),
)

const webhookUrl = (allowedRanges: readonly AddressRange[]) =>
  v.pipe(
    wellFormedText,
    v.check(
      (text) => URL.canParse(text) && new URL(text).protocol === 'https:',
      'must be an https: URL',
    ),
    v.check((text) => {
      if (!URL.canParse(text)) return true
      const { username, password } = new URL(text)
      return username === '' && password === ''
    }, 'must not hold a user name or password'),
    v.check(
      (text) => !URL.canParse(text) || hasPublicHost(new URL(text), allowedRanges),
      'must not name an address that is not public',
    ),
  )

const webhookSecret = v.pipe(
  wellFormedText,
  v.check((text) => text !== '', 'must not be empty'),
  v.check(
    (text) => byteLength(text) <= secretLimitBytes,
    `is larger than ${secretLimitBytes} bytes of UTF-8`,
  ),
)

const fields = (allowedRanges: readonly AddressRange[]) => ({
  language,
  code: boundedText,
  stdin: v.optional(boundedText, ''),
  expected_stdout: v.optional(boundedText),
  webhook_url: v.optional(webhookUrl(allowedRanges)),
  webhook_secret: v.optional(webhookSecret),
})

/** Either the request, or everything that is wrong with it. */
export type Parsed<T> =
  | { readonly value: T; readonly issues: readonly [] }
  | { readonly value: null; readonly issues: readonly Issue[] }

/** Creates the parser of submission requests for a server that lets webhooks reach `allowedRanges`. */
export function createSubmissionParser(
  allowedRanges: readonly AddressRange[],
): (input: unknown) => Parsed<Submission> {
  const entries = fields(allowedRanges)
  const schema = v.object(entries)

  return (input) => {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      return { value: null, issues: [{ path: '', message: 'must be a JSON object' }] }
    }
    const result = v.safeParse(schema, input)
    // Own keys only, by hand: a strict schema reports the first unknown key alone and takes `__proto__` for a known one.
    const issues: Issue[] = Object.keys(input)
      .filter((key) => !Object.hasOwn(entries, key))
      .map((key) => ({ path: key.toWellFormed(), message: 'is not a field of a submission' }))
    for (const issue of result.issues ?? []) {
      const path = v.getDotPath(issue) ?? ''
      issues.push({ path, message: issue.received === 'undefined' ? 'is required' : issue.message })
    }
    const has = (key: string): boolean => Object.hasOwn(input, key)
    if (has('webhook_url') && !has('webhook_secret')) {
      issues.push({ path: 'webhook_secret', message: 'is required with webhook_url' })
    }
    if (has('webhook_secret') && !has('webhook_url')) {
      issues.push({ path: 'webhook_url', message: 'is required with webhook_secret' })
    }
    if (!result.success || issues.length > 0) return { value: null, issues }

    const {
      webhook_url: url,
      webhook_secret: secret,
      expected_stdout: expected,
      ...rest
    } = result.output
    return {
      value: {
        language: rest.language,
        code: Buffer.from(rest.code),
        stdin: Buffer.from(rest.stdin),
        expectedStdout: expected === undefined ? null : Buffer.from(expected),
        webhook: url === undefined || secret === undefined ? null : { url, secret },
      },
      issues: [],
    }
  }
}
