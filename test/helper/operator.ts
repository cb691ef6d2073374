// Operators' keys for tests.
import { issueKey } from '#account'
import type { Database } from '#database'

/** A key that opens /api/operator. */
export async function issueOperatorKey(
  sql: Database,
  { readOnly = false } = {},
): Promise<{ readonly id: string; readonly key: string }> {
  const request = { account: 'operations', tier: 'unlimited', role: 'operator', readOnly } as const
  return issueKey(sql, request, 'test')
}
