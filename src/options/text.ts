// Texts in requests: well-formed ones, words, tags, names of languages, environment variables. Text that PostgreSQL or UTF-8
// cannot hold is refused.
import * as v from 'valibot'
import { findNearestLanguage, languagesByName, refuseVariable } from '#language'
import type { Language } from '#language'
import { list } from './fields.ts'

const wordsMost = 64
const wordsBytesMost = 16 * 1024
const tagBytesMost = 128
const variablesMost = 64
const variablesBytesMost = 16 * 1024

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

/** The schema of a text's encoding. */
export const encoding = v.picklist(['utf8', 'base64'], 'must be utf8 or base64')

const sum = (sizes: readonly number[]): number => sizes.reduce((all, size) => all + size, 0)

/** The schema of a list of arguments. */
export const words = v.pipe(
  list(wellFormedTextWithoutNul, 'strings', wordsMost),
  v.check(
    (all) => sum(all.map(byteLength)) <= wordsBytesMost,
    `is larger than ${wordsBytesMost} bytes of UTF-8 in all`,
  ),
)

/** The schema of the caller's tag, by which the caller finds a submission again. */
export const tagSchema = v.pipe(
  wellFormedTextWithoutNul,
  isNotEmpty,
  fits(tagBytesMost),
  v.metadata({
    description:
      'The caller’s own label for the submission. It is in the record, and lists can be filtered by it.',
    maxLength: tagBytesMost,
  }),
)

const languageNames = Object.keys(languagesByName)

/** The beginning of the message for a name that no language has. */
export const unknownLanguage = 'must be one of the languages that are offered'

function describeUnknown(name: unknown): string {
  const nearest = typeof name === 'string' ? findNearestLanguage(name) : undefined
  return nearest === undefined ? unknownLanguage : `${unknownLanguage}: did you mean ${nearest}?`
}

/** The schema of a language's name. Turns any accepted name into the canonical one. */
export const languageSchema = v.pipe(
  v.picklist(languageNames, ({ input }) => describeUnknown(input)),
  v.transform((name) => languagesByName[name] as Language),
)

/** JSON readers, here and elsewhere, lose fields with these names. */
const lost = ['__proto__', 'constructor', 'prototype']

// Names that change how a program is loaded or started are refused, because then another program would run than the one
// submitted. A program can still set any name for itself.
const variableName = v.pipe(
  v.string(),
  v.regex(
    /^[A-Za-z_][A-Za-z0-9_]*$/,
    'is not a valid name: use letters, digits and _, and no digit first',
  ),
  v.check(
    (name) => refuseVariable(name) === null,
    ({ input }) => refuseVariable(input) ?? '',
  ),
)

/** The schema of the program's environment variables. An object with too many is refused before they are checked. */
export const environment = v.pipe(
  v.unknown(),
  v.check((value) => typeof value === 'object' && !Array.isArray(value), 'must be an object'),
  v.check(
    (value) => Object.keys(value ?? {}).length <= variablesMost,
    `holds more than ${variablesMost} variables`,
  ),
  v.check(
    (value) => lost.every((name) => !Object.hasOwn(value ?? {}, name)),
    `cannot hold ${lost.join(', ')}`,
  ),
  v.record(variableName, wellFormedTextWithoutNul, 'must be an object'),
  v.check(
    (all) => sum(Object.entries(all).flat().map(byteLength)) <= variablesBytesMost,
    `is larger than ${variablesBytesMost} bytes in all`,
  ),
  v.metadata({ maxProperties: variablesMost }),
)
