// Issues operators' keys for tests.
import { issueKey } from '#account'
import type { Database } from '#database'

/** Issues a key for /api/operator. */
export async function issueOperatorKey(
  sql: Database,
  { readOnly = false } = {},
): Promise<{ readonly id: string; readonly key: string }> {
  const request = { account: 'operations', tier: 'unlimited', role: 'operator', readOnly } as const
  return issueKey(sql, request, 'test')
}
