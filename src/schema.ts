// What schemas of requests, records and answers are made of.
import * as v from 'valibot'

export const uuid = v.pipe(v.string(), v.metadata({ format: 'uuid' }))
export const time = v.pipe(v.string(), v.metadata({ format: 'date-time' }))
export const utcTime = v.pipe(v.string(), v.metadata({ format: 'date-time', pattern: 'Z$' }))
export const seconds = v.pipe(v.number(), v.minValue(0))
export const count = v.pipe(v.number(), v.integer(), v.minValue(0))

/** The same with a sentence for whoever reads the OpenAPI document. */
export function described<const Schema extends v.GenericSchema>(
  schema: Schema,
  text: string,
): v.SchemaWithPipe<readonly [Schema, v.DescriptionAction<v.InferOutput<Schema>, string>]> {
  return v.pipe(schema, v.description<v.InferOutput<Schema>, string>(text))
}

const form = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d)$/
/** A time in a request, as RFC 3339 writes it. It comes out in UTC. */
export const timeText = v.pipe(
  v.string(),
  v.check(isTime, 'must be a time such as 2030-01-31T12:00:00Z'),
  v.transform((text) => new Date(text).toISOString()),
  v.metadata({ format: 'date-time' }),
)

/** PostgreSQL knows it too: no 30th of February, no year 0. */
function isTime(text: string): boolean {
  const clock = form.exec(text)?.[1]
  if (clock === undefined || Number.isNaN(Date.parse(text))) return false
  // A day that its month has not becomes another one.
  const isDay = new Date(`${clock}Z`).toISOString().startsWith(clock)
  return isDay && /^(?!0000)\d/.test(new Date(text).toISOString())
}
