// Tells the log of ends. While a statement is under way, those that come wait, and share the next one and its commit
// (database/gather.ts).
import { createGather, hadNoEffect, json } from '#database'
import type { Database, Gather } from '#database'
import { schemaVersion } from '#event'
import type { Metadata } from '#event'
import type { Attempt } from './attempt.ts'
import type { Completion } from './completion.ts'

/** What runledger.conclude_execution takes. */
export interface End extends Pick<Attempt, 'submission' | 'version' | 'run'> {
  readonly data: object
  readonly metadata: Metadata
  readonly bodies: Omit<Completion, 'data'>
}

// As in receive.ts.
const mostBytes = 128 * 1024

const concluders = new WeakMap<Database, Gather<End, true>>()

/** Resolved it is on disk. @throws as runledger.conclude_execution. */
export async function conclude(sql: Database, end: End): Promise<void> {
  const gather = concluders.get(sql) ?? createConcluder(sql)
  concluders.set(sql, gather)
  // Nobody calls an end off.
  await gather(end, new AbortController().signal)
}

function createConcluder(sql: Database): Gather<End, true> {
  return createGather({
    one: (end) => concludeOne(sql, end),
    several: (ends) => concludeSeveral(sql, ends),
    hadNoEffect,
    weigh: ({ bodies }) =>
      Object.values(bodies).reduce((sum, body) => sum + (body?.byteLength ?? 0), 0),
    mostWeight: mostBytes,
    // Those of one worker share the disk's time as well.
    underWay: 1,
    mostUnderWay: 2,
  })
}

async function concludeOne(sql: Database, end: End): Promise<true> {
  const { stdout, stderr, compileOutput, report } = end.bodies
  await sql`
    call runledger.conclude_execution(
      ${end.submission}, ${end.version}, ${schemaVersion}, ${JSON.stringify(end.data)}::text::jsonb,
      ${JSON.stringify(end.metadata)}::text::jsonb, ${stdout}, ${stderr}, ${compileOutput}, ${end.run}, ${report}
    )`
  return true
}

async function concludeSeveral(
  sql: Database,
  ends: readonly End[],
): Promise<readonly (true | undefined)[]> {
  const items = ends.map(({ submission, version, run, data, metadata, bodies }) => ({
    submission_id: submission,
    started_version: version,
    schema_version: schemaVersion,
    run,
    data,
    metadata,
    stdout: encode(bodies.stdout),
    stderr: encode(bodies.stderr),
    compile_output: encode(bodies.compileOutput),
    report: encode(bodies.report),
  }))
  const [row] = await sql<[{ refusals: readonly (string | null)[] }]>`
    call runledger.conclude_several(${json(sql, items)}, null)`
  return row.refusals.map((refusal) => (refusal === null ? true : undefined))
}

function encode(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('base64')
}
