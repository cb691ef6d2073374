// The metadata of account events. Only operators cause these events, on the server.
import { json } from '#database'
import type { Queryable } from '#database'
import type { Metadata } from '#event'

export function actor(sql: Queryable, operator: string): ReturnType<typeof json> {
  const metadata: Metadata = { actor: { operator } }
  return json(sql, metadata)
}
