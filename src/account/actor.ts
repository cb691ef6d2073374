// Who caused an account's event: always an operator, at the server's command line.
import { json } from '#database'
import type { Queryable } from '#database'
import type { Metadata } from '#event'

/** The metadata of an event that an operator causes, as a parameter. */
export function actor(sql: Queryable, operator: string): ReturnType<typeof json> {
  const metadata: Metadata = { actor: { operator } }
  return json(sql, metadata)
}
