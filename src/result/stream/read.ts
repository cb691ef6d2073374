// Reads what followers wait for: of submissions that run the live events, of those that have ended the record.
import type { Database } from '#database'
import { toTrackedResult } from '../record.ts'
import type { TrackedRow } from '../record.ts'
import { decodeReport, describeTest } from '../report.ts'
import type { Position } from './event.ts'
import type { End, Seen } from './story.ts'

export interface Standing extends Seen {
  /** Its record is to be read. */
  readonly isFinal: boolean
}

/** A row of runledger.read_live_output. */
interface Row {
  readonly place: number
  /** Null: there is no such submission. */
  readonly status: string | null
  readonly is_final: boolean
  readonly run: string | null
  readonly event_id: string | null
  readonly event: string
  readonly data: string
}

const nothing = new Uint8Array()

/** @returns in the order of those that were asked for; undefined where there is none. */
export async function readStandings(
  sql: Database,
  asked: readonly { readonly id: string; readonly position: Position }[],
): Promise<(Standing | undefined)[]> {
  const places = asked.map(({ id, position: { run, seq } }, place) => ({ place, id, run, seq }))
  const rows = await sql<Row[]>`
    select * from runledger.read_live_output(${JSON.stringify(places)}::text::jsonb)`
  const byPlace = Map.groupBy(rows, ({ place }) => place)
  return asked.map(({ id }, place) => {
    const found = byPlace.get(place) ?? []
    const [first] = found
    if (first === undefined || first.status === null) return undefined
    const events = found.flatMap(({ event_id: eventId, event, data }) =>
      eventId === null ? [] : [{ id: eventId, event, data }],
    )
    const { run, is_final: isFinal } = first
    return { id, isQueued: first.status === 'queued', run, events, end: null, isFinal }
  })
}

/** @returns null when there is no record any more. */
export async function readEnd(sql: Database, id: string): Promise<End | null> {
  const [row] = await sql<TrackedRow[]>`
    select found.* from runledger.result r, runledger.read_result(r.id, r.account_id) found
    where r.id = ${id}`
  if (row === undefined) return null
  const record = toTrackedResult(row)
  const tests = decodeReport(row.report).tests ?? []
  // With tests, the record's outputs are those of one of them.
  const [stdout, stderr] = tests.length > 0 ? [nothing, nothing] : [row.stdout, row.stderr]
  return {
    isBase64: row.output_encoding === 'base64',
    compile: record.compile_output,
    stdout: stdout ?? nothing,
    stderr: stderr ?? nothing,
    tests: tests.flatMap((test, index) =>
      test.verdict === null ? [] : [describeTest(index, test)],
    ),
    record: JSON.stringify(record),
  }
}
