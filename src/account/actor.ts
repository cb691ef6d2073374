// The metadata of account events, which only operators cause, at the server.
import { json } from '#database'
import type { Queryable } from '#database'
import type { Metadata } from '#event'

export function actor(sql: Queryable, operator: string): ReturnType<typeof json> {
  const metadata: Metadata = { actor: { operator } }
  return json(sql, metadata)
}
