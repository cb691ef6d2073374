// A time in a request, as RFC 3339 writes it.
import * as v from 'valibot'

const form = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d)$/
/** It comes out in UTC. */
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
