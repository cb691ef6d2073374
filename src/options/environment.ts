// The program's environment variables: the names that a request may set. Names that change how a program is loaded or started
// are refused, because then another program would run than the one submitted. A program can still set any name for itself.
import * as v from 'valibot'
import { refuseVariable } from '#language'
import { byteLength, wellFormedTextWithoutNul } from './text.ts'

const variablesMost = 64
const bytesMost = 16 * 1024

/** JSON readers, here and elsewhere, lose fields with these names. */
const lost = ['__proto__', 'constructor', 'prototype']

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

const countBytes = (variables: Readonly<Record<string, string>>): number =>
  Object.entries(variables)
    .flat()
    .reduce((sum, text) => sum + byteLength(text), 0)

/** The schema of an object of strings. One with too many fields is refused before they are checked. */
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
  v.check((all) => countBytes(all) <= bytesMost, `is larger than ${bytesMost} bytes in all`),
  v.metadata({ maxProperties: variablesMost }),
)
