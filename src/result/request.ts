// Reads the request that a submission was received with, as long as its bodies are kept, and what a list shows of a program
// beside its record: the first line, and whether an output was expected. That is read for one page and only as far as needed, so
// that it costs little.
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

/** Fields are null once the body was purged. */
export interface Preview {
  /** The beginning of the program's first line that is not blank. */
  readonly preview: string | null
  /** False: nothing was expected, so AC only means that the program finished. */
  readonly judged: boolean | null
}

const readBytes = 400
const shownCharacters = 80
/** Longer options hold tests or files. They are not decompressed to find out which, and count as judged. */
const optionBytes = 65_536

export async function readPreviews(
  sql: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Preview>> {
  const rows = await sql<{ id: string; code: Uint8Array | null; judged: boolean }[]>`
    select
      submission_id as id,
      substring(code from 1 for ${readBytes}) as code,
      expected_stdout is not null or coalesce(
        case
          when octet_length(detail) > ${optionBytes} then true
          else encode(detail, 'escape') ~ '"(tests|checker|expected_stdout_sha256)":'
        end, false) as judged
    from runledger.body where submission_id = any (${ids}::uuid[])`
  return new Map(rows.map(({ id, code, judged }) => [id, { preview: preview(code), judged }]))
}

function preview(code: Uint8Array | null): string | null {
  if (code === null) return null
  // With `stream`, the decoder leaves out a character that the cut divides.
  const text = new TextDecoder().decode(code, { stream: true })
  const line = /\S.*/.exec(text)?.[0].trimEnd() ?? ''
  return Array.from(line).slice(0, shownCharacters).join('')
}
