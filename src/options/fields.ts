// Objects, lists and numbers of requests: valibot schemas with our messages, built so that a hostile body costs little.
import * as v from 'valibot'
import type { Issue } from '#error'

// The most mistakes that an answer lists. A body of 2 MiB could have a hundred thousand.
const issuesMost = 100
const pathMost = 100

/**
 * Returns the schema of an object with these fields and no others.
 * @param of whose fields they are. @param instead the message for another type.
 */
export const fields = <const Entries extends v.ObjectEntries>(
  entries: Entries,
  of: string,
  instead = 'must be an object',
  // eslint-disable-next-line typescript/explicit-module-boundary-types -- the type is the schema, a second copy would drift
) =>
  v.pipe(
    v.unknown(),
    // For valibot an array is an object too.
    v.check((value) => !Array.isArray(value), instead),
    strict(entries, of, instead),
  )

/**
 * Returns the schema of an object with these fields and no others. It reports the other fields, as many as an answer lists;
 * valibot reports only the first.
 */
export const strict = <const Entries extends v.ObjectEntries>(
  entries: Entries,
  of: string,
  instead?: string,
  // eslint-disable-next-line typescript/explicit-module-boundary-types -- see above
) => {
  const object = v.strictObject(entries, messages(of, instead))
  return v.pipe(
    object,
    v.rawCheck<v.InferOutput<typeof object>>(({ dataset, addIssue }) => {
      const [first] = dataset.issues?.find(isUnknownField)?.path ?? []
      if (first?.type !== 'object') return
      const others = Object.keys(first.input).filter(
        (key) => key !== first.key && !Object.hasOwn(entries, key),
      )
      for (const key of others.slice(0, issuesMost)) {
        const item = { ...first, key, value: first.input[key] }
        addIssue({ expected: 'never', message: unknownField(of), path: [item] })
      }
    }),
  )
}

const unknownField = (of: string): string => `is not a field of ${of}`

/** True for an unknown field of the object itself, not of an object in it. */
const isUnknownField = ({ expected, path }: v.BaseIssue<unknown>): boolean =>
  expected === 'never' && path?.length === 1

/** Returns the messages of an object's schema: for a value that is not an object, an unknown field, and a missing field. */
export const messages =
  (of: string, instead = 'must be an object') =>
  ({ expected }: Pick<v.BaseIssue<unknown>, 'expected'>): string => {
    if (expected === 'never') return unknownField(of)
    return expected === 'Object' ? instead : 'is required'
  }

/** Returns the schema of a list. The items of a list that is too long are not checked. @param items such as "files". */
// eslint-disable-next-line typescript/explicit-module-boundary-types -- see above
export const list = <const Item extends v.GenericSchema>(item: Item, items: string, most: number) =>
  v.pipe(
    v.array(v.unknown(), `must be an array of ${items}`),
    v.maxLength(most, `holds more than ${most} ${items}`),
    v.array(item),
    v.metadata({ maxItems: most }),
  )

const partsMost = 1000

/**
 * Returns the schema of a list or an object of at most a thousand parts. The parts of a larger one are not checked, because a
 * mistake takes 6 µs, and two megabytes hold a million.
 */
// eslint-disable-next-line typescript/explicit-module-boundary-types -- see above
export const few = <const Schema extends v.GenericSchema>(schema: Schema) =>
  v.pipe(
    v.unknown(),
    v.check((value) => countParts(value) <= partsMost, `holds more than ${partsMost} parts`),
    schema,
  )

function countParts(value: unknown): number {
  if (Array.isArray(value)) return value.length
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0
}

export const finite = v.pipe(v.number('must be a number'), v.finite('must be a number'))
export const whole = v.pipe(v.number('must be a number'), v.integer('must be a whole number'))
/** Returns the schema of an optional number with a minimum. */
// eslint-disable-next-line typescript/explicit-module-boundary-types -- see above
export const atLeast = (minimum: number, kind: typeof finite | typeof whole, description: string) =>
  v.optional(
    v.pipe(kind, v.minValue(minimum, `must be at least ${minimum}`), v.description(description)),
  )

export interface Checked<Value> {
  /** Null when anything is wrong. */
  readonly value: Value | null
  /** The fields of the object that have no mistake. */
  readonly sound: Partial<Value>
  readonly issues: readonly Issue[]
}

/** Checks a value against a schema and reports all its mistakes. */
export function validate<Value extends object>(
  schema: v.GenericSchema<unknown, Value>,
  input: unknown,
): Checked<Value> {
  const parsed = v.safeParse(schema, input)
  if (parsed.success) return { value: parsed.output, sound: parsed.output, issues: [] }
  const issues = parsed.issues.map((issue) => ({
    path: v.getDotPath(issue) ?? '',
    message: issue.message.replace(/^Invalid key.*/, 'is required'),
  }))
  // A field with an unknown field in it is read without that, so that its other mistakes are found too.
  const broken = new Set(
    parsed.issues.filter(({ expected }) => expected !== 'never').map(({ path }) => path?.[0].key),
  )
  const sound = broken.has(undefined)
    ? {}
    : Object.fromEntries(Object.entries(Object(parsed.output)).filter(([key]) => !broken.has(key)))
  return { value: null, sound: sound as Partial<Value>, issues }
}

/** Shortens a list of mistakes: keeps the first ones, and the beginning of long paths. */
export function shorten(issues: readonly Issue[]): readonly Issue[] {
  const listed = issues.slice(0, issuesMost).map(({ path, message }) => ({
    path: path.slice(0, pathMost).toWellFormed(),
    message,
  }))
  const more = issues.length - listed.length
  return more > 0 ? [...listed, { path: '', message: `holds ${more} more mistakes` }] : listed
}
