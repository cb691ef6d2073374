// Tells the log of ends. While statements are under way, those that come wait, and share the next one and its commit
// (database/batch.ts).
import { createBatch, json } from '#database'
import type { Batch, Database } from '#database'
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

const concluders = new WeakMap<Database, Batch<End, Failure | null>>()

interface Failure {
  readonly error: unknown
}

/** Resolved it is on disk. @throws as runledger.conclude_execution. */
export async function conclude(sql: Database, end: End): Promise<void> {
  const batch = concluders.get(sql) ?? createConcluder(sql)
  concluders.set(sql, batch)
  const failure = await (isLarge(end) ? tryOne(sql, end) : batch(end))
  if (failure !== null) throw failure.error
}

function createConcluder(sql: Database): Batch<End, Failure | null> {
  return createBatch({
    run: async (ends) => {
      const refusals = ends.length === 1 ? [null] : await concludeSeveral(sql, ends)
      return Promise.all(
        ends.map(async (end, n) =>
          ends.length === 1 || refusals[n] !== null ? tryOne(sql, end) : null,
        ),
      )
    },
    // Those of one worker share the disk's time as well.
    statements: 2,
    items: 32,
  })
}

function isLarge({ bodies }: End): boolean {
  const bytes = Object.values(bodies).reduce((sum, body) => sum + (body?.byteLength ?? 0), 0)
  return bytes > mostBytes
}

async function tryOne(sql: Database, end: End): Promise<Failure | null> {
  return concludeOne(sql, end).then(
    () => null,
    (error: unknown) => ({ error }),
  )
}

async function concludeOne(sql: Database, end: End): Promise<void> {
  const { stdout, stderr, compileOutput, report } = end.bodies
  await sql`
    call runledger.conclude_execution(
      ${end.submission}, ${end.version}, ${schemaVersion}, ${JSON.stringify(end.data)}::text::jsonb,
      ${JSON.stringify(end.metadata)}::text::jsonb, ${stdout}, ${stderr}, ${compileOutput}, ${end.run}, ${report}
    )`
}

async function concludeSeveral(
  sql: Database,
  ends: readonly End[],
): Promise<readonly (string | null)[]> {
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
  return row.refusals
}

function encode(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('base64')
}
