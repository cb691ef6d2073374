// Reads the request that a submission was received with, as long as its bodies are kept.
import type { Database } from '#database'
import { readLimits } from './limits.ts'
import type { AttemptLimits } from './limits.ts'

/** The submission's bodies, and fields of submission.received. */
export interface ReceivedRequest {
  readonly language: string
  readonly code: Uint8Array
  readonly stdin: Uint8Array
  readonly expectedStdout: Uint8Array | null
  /** The other options of the request, as `encodeOptions` writes them. */
  readonly detail: Uint8Array | null
  readonly outputEncoding: string | null
  readonly priority: string | null
  readonly tag: string | null
  /** The limits in force in the last attempt; null before the first attempt. */
  readonly limits: AttemptLimits | null
}

type RequestRow = Omit<ReceivedRequest, 'code' | 'limits'> & {
  readonly code: Uint8Array | null
  readonly limits: unknown
}

/** Reads a submission's request. @returns null when the account has no such submission; `purged` without its bodies. */
export async function readRequest(
  sql: Database,
  id: string,
  accountId: string,
): Promise<ReceivedRequest | 'purged' | null> {
  const [row] = await sql<RequestRow[]>`
    select
      e.data ->> 'language' as language, body.code, body.stdin, body.expected_stdout as "expectedStdout", body.detail,
      e.data ->> 'output_encoding' as "outputEncoding", e.data ->> 'priority' as priority, e.data ->> 'tag' as tag, (
        select started.data -> 'limits' from runledger.event started
        where started.stream_id = r.id and started.type = 'execution.started'
        order by started.stream_version desc limit 1
      ) as limits
    from runledger.submission r
    join runledger.event e on e.stream_id = r.id and e.stream_version = 1
    left join runledger.body on body.submission_id = r.id
    where r.id = ${id} and r.account_id = ${accountId}`
  if (row === undefined) return null
  const { code } = row
  return code === null ? 'purged' : { ...row, code, limits: readLimits(row.limits) }
}
