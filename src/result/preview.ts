// What a list shows of a program beside its record: the first line, and whether an output was expected. It is read from the
// bodies, so it disappears when they are purged. It is read for one page and only as far as needed, so that it costs little.
import type { Database } from '#database'

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
