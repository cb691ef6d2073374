// Reads how submissions stand that are watched: while they run what was told of their output, after the end their record.
import type { Database } from '#database'
import { toTrackedResult } from '../record.ts'
import type { TrackedRow } from '../record.ts'
import { decodeReport, describeTest } from '../report.ts'
import type { Part, Seen } from './advance.ts'
import type { Position } from './position.ts'

/** After reading has failed. */
export const retryMilliseconds = 500

export interface Standing {
  readonly seen: Seen
  /** Its record is to be read: `seen` has nothing of it. */
  readonly isFinal: boolean
}

/** A row of runledger.read_streams. */
interface StreamRow {
  readonly place: number
  /** Null: there is no such submission. */
  readonly status: string | null
  readonly is_final: boolean | null
  readonly run: string | null
  readonly output_encoding: string | null
  readonly kind: 'compile' | 'stdout' | 'stderr' | 'test' | null
  readonly start: number | null
  readonly bytes: Buffer | null
}

const nothing = new Uint8Array()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** @returns in the order of those that were asked for; undefined where there is none. */
export async function readStanding(
  sql: Database,
  asked: readonly { readonly id: string; readonly position: Position }[],
): Promise<(Standing | undefined)[]> {
  const words = asked.map(({ id, position: { stage: _stage, ...ends } }, place) => ({
    place,
    id,
    ...ends,
  }))
  const rows = await sql<StreamRow[]>`
    select * from runledger.read_streams(${JSON.stringify(words)}::text::jsonb)`
  const byPlace = Map.groupBy(rows, ({ place }) => place)
  return asked.map(({ id }, place) => describe(id, byPlace.get(place) ?? []))
}

function describe(id: string, rows: readonly StreamRow[]): Standing | undefined {
  const [first] = rows
  if (first === undefined || first.status === null) return undefined
  const of = (kind: StreamRow['kind']): Part[] =>
    rows.flatMap((row) =>
      row.kind === kind ? [{ start: row.start ?? 0, bytes: row.bytes ?? nothing }] : [],
    )
  const messages = of('compile')[0]
  return {
    isFinal: first.is_final === true,
    seen: {
      id,
      isQueued: first.status === 'queued',
      run: first.run,
      isBase64: first.output_encoding === 'base64',
      compile: messages === undefined ? null : decoder.decode(messages.bytes),
      stdout: join(of('stdout')),
      stderr: join(of('stderr')),
      tests: of('test').map(({ start: index, bytes }) => ({ index, json: decoder.decode(bytes) })),
      record: null,
    },
  }
}

/** Pieces in the order of their beginnings as one: a character may stand in several. */
function join([first = { start: 0, bytes: nothing }, ...others]: readonly Part[]): Part {
  const { start } = first
  const pieces = [first.bytes]
  let end = start + first.bytes.length
  for (const other of others) {
    if (other.start > end) break
    const rest = other.bytes.subarray(end - other.start)
    pieces.push(rest)
    end += rest.length
  }
  return { start, bytes: Buffer.concat(pieces) }
}

/** Everything, from the record. @returns null when there is none any more. */
export async function readEnd(sql: Database, { seen }: Standing): Promise<Seen | null> {
  const [row] = await sql<TrackedRow[]>`
    select told.* from runledger.result r, runledger.read_result(r.id, r.account_id) told
    where r.id = ${seen.id}`
  if (row === undefined) return null
  const tests = decodeReport(row.report).tests ?? []
  const record = toTrackedResult(row)
  return {
    ...seen,
    isQueued: false,
    compile: record.compile_output,
    stdout: { start: 0, bytes: row.stdout ?? nothing },
    stderr: { start: 0, bytes: row.stderr ?? nothing },
    // With tests, the outputs are those of one of them.
    ...(tests.length > 0 && {
      stdout: { start: 0, bytes: nothing },
      stderr: { start: 0, bytes: nothing },
    }),
    tests: tests.flatMap((test, index) =>
      test.verdict === null ? [] : [{ index, json: describeTest(index, test) }],
    ),
    record: JSON.stringify(record),
  }
}
