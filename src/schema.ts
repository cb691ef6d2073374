// Building blocks for the schemas of requests, records and answers.
import * as v from 'valibot'

export const uuid = v.pipe(v.string(), v.metadata({ format: 'uuid' }))
export const time = v.pipe(v.string(), v.metadata({ format: 'date-time' }))
export const utcTime = v.pipe(v.string(), v.metadata({ format: 'date-time', pattern: 'Z$' }))
export const seconds = v.pipe(v.number(), v.minValue(0))
export const count = v.pipe(v.number(), v.integer(), v.minValue(0))

/** The type with all fields read-only, at any depth. */
export type DeepReadonly<T> = { readonly [Key in keyof T]: DeepReadonly<T[Key]> }

/** Returns the schema with a description for the OpenAPI document. */
export function described<const Schema extends v.GenericSchema>(
  schema: Schema,
  text: string,
): v.SchemaWithPipe<readonly [Schema, v.DescriptionAction<v.InferOutput<Schema>, string>]> {
  return v.pipe(schema, v.description<v.InferOutput<Schema>, string>(text))
}

const form = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d)$/
/** A time in a request, in RFC 3339 format. The output is in UTC. */
export const timeText = v.pipe(
  v.string('must be a string'),
  v.check(isTime, 'must be a time such as 2030-01-31T12:00:00Z'),
  v.transform((text) => new Date(text).toISOString()),
  v.metadata({ format: 'date-time' }),
)

/** True for a time that PostgreSQL accepts too: no 30th of February, no year 0. */
function isTime(text: string): boolean {
  const clock = form.exec(text)?.[1]
  if (clock === undefined || Number.isNaN(Date.parse(text))) return false
  // JavaScript turns a day that the month does not have into another day.
  const isDay = new Date(`${clock}Z`).toISOString().startsWith(clock)
  return isDay && /^(?!0000)\d/.test(new Date(text).toISOString())
}
