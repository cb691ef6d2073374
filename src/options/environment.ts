// The program's own variables: which names a request may set. A program can set any for itself: what is refused would change
// how it is loaded and started, so that another program would run than the one that was submitted.
import * as v from 'valibot'
import { refuseVariable } from '#language'
import { byteLength, wellFormedTextWithoutNul } from './text.ts'

const variablesMost = 64
const bytesMost = 16 * 1024

/** JSON readers lose these, here and elsewhere. */
const lost = ['__proto__', 'constructor', 'prototype']

const variableName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is no name: letters, digits and _, no digit first'),
  v.check(
    (name) => refuseVariable(name) === null,
    ({ input }) => refuseVariable(input) ?? '',
  ),
)

const countBytes = (variables: Readonly<Record<string, string>>): number =>
  Object.entries(variables)
    .flat()
    .reduce((sum, text) => sum + byteLength(text), 0)

/** An object of strings, not looked at when it has too many. */
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
