// Text in requests. Text that PostgreSQL or UTF-8 cannot hold is refused.
import * as v from 'valibot'
import type { Options } from './schema.ts'

export const byteLength = (text: string): number => Buffer.byteLength(text, 'utf8')

export const wellFormedText = v.pipe(
  v.string('must be a string'),
  v.check((text) => text.isWellFormed(), 'holds a lone surrogate, which UTF-8 cannot encode'),
)

// PostgreSQL's text type cannot hold NUL. Bodies are bytes and may contain it.
export const wellFormedTextWithoutNul = v.pipe(
  wellFormedText,
  v.check((text) => !text.includes('\0'), 'must not hold a NUL'),
)

/** @param most bytes of UTF-8. */
export const fits = (most: number): v.CheckAction<string, string> =>
  v.check((text) => byteLength(text) <= most, `is larger than ${most} bytes of UTF-8`)

export const isNotEmpty = v.check((text: string) => text !== '', 'must not be empty')

/** Decodes a text to bytes; null when it is not base64. */
export function decode(content: string, encoded: 'utf8' | 'base64' | undefined): Buffer | null {
  if (encoded !== 'base64') return Buffer.from(content)
  const bytes = Buffer.from(content, 'base64')
  return bytes.toString('base64') === content ? bytes : null
}

/** Decodes the files of a request that has passed its checks. */
export function decodeFiles(
  files: NonNullable<Options['files']>,
): { readonly name: string; readonly content: Uint8Array }[] {
  return files.map(({ name, content, encoding }) => ({
    name,
    content: Buffer.from(content, encoding ?? 'utf8'),
  }))
}
