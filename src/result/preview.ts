// What a list may show of a program beside its record: its first line, and whether anything was expected of it. Read from
// bodies, of one page's submissions alone and only as far as it is needed, so that it costs little and goes with them.
import type { Database } from '#database'

/** Null once the body was purged. */
export interface Preview {
  /** Its first line that is not blank, or its beginning. */
  readonly preview: string | null
  /** False: its AC says that it finished, as nothing was expected. */
  readonly judged: boolean | null
}

const readBytes = 400
const shownCharacters = 80
/** Longer options hold tests, or files; they are not unpacked to see which. */
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
  // A character that the cut divides is left out.
  const text = new TextDecoder().decode(code, { stream: true })
  const line = /\S.*/.exec(text)?.[0].trimEnd() ?? ''
  return Array.from(line).slice(0, shownCharacters).join('')
}
