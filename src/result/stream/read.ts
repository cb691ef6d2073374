// Reads what followers wait for: the live events of running submissions, and the records of finished ones.
import type { Database } from '#database'
import { toTrackedResult } from '../record.ts'
import type { TrackedRow } from '../record.ts'
import { decodeReport, describeTest } from '../report.ts'
import type { Position } from './event.ts'
import type { End, Seen } from './story.ts'

export interface State extends Seen {
  /** The submission has ended, so its record must be read. */
  readonly isFinal: boolean
}

/** A row of runledger.read_live_output. */
interface Row {
  readonly place: number
  /** Null when there is no such submission. */
  readonly status: string | null
  readonly is_final: boolean
  readonly run: string | null
  readonly event_id: string | null
  readonly event: string
  readonly data: string
}

const nothing = new Uint8Array()

/** Reads the state and next live events of each submission. @returns in the order of `asked`; undefined for an unknown one. */
export async function readStates(
  sql: Database,
  asked: readonly { readonly id: string; readonly position: Position }[],
): Promise<(State | undefined)[]> {
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

/** Reads the record of a finished submission. @returns null when there is no record any more. */
export async function readEnd(sql: Database, id: string): Promise<End | null> {
  const [row] = await sql<TrackedRow[]>`
    select found.* from runledger.result r, runledger.read_result(r.id, r.account_id) found
    where r.id = ${id}`
  if (row === undefined) return null
  const record = toTrackedResult(row)
  const tests = decodeReport(row.report).tests ?? []
  // With tests, the record's outputs belong to one of the tests, so they are not sent.
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
