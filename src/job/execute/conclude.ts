// Brings ends into the log. While statements are under way, those that come wait, and share the next one and its commit
// (database/batch.ts).
import { createBatch, json } from '#database'
import type { Database } from '#database'
import { schemaVersion } from '#event'
import type { Metadata } from '#event'
import { reachFailpoint } from '#failpoint'
import { notifyWaiters } from '#notify'
import { untilAvailable } from '#retry'
import type { Attempt } from './attempt.ts'
import type { Completion } from './completion.ts'
import type { ExecuteDependencies, Loss } from './run-attempt.ts'

/** An item of runledger.conclude. */
export interface End extends Pick<Attempt, 'submission' | 'version' | 'run'> {
  readonly data: object
  readonly metadata: Metadata
  readonly bodies: Omit<Completion, 'data'>
}

/** Why nothing was written, as runledger.conclude has it. */
type Refusal = 'stored' | 'superseded' | 'start_lost' | 'no_verdict'

interface ConcludedRow {
  readonly refusal: Refusal | null
  readonly waiters: readonly string[] | null
  readonly notification: string | null
}

/** Null: the end is on disk. Safe to repeat. */
export type Conclude = (end: End) => Promise<Refusal | null>

export function createConclude(sql: Database): Conclude {
  return createBatch<End, Refusal | null>({
    run: (ends) => store(sql, ends),
    // Those of one worker share the disk's time as well.
    statements: 2,
    items: 32,
    countBytes: ({ bodies }) =>
      Object.values(bodies).reduce((sum, body) => sum + (body?.byteLength ?? 0), 0),
  })
}

async function store(sql: Database, ends: readonly End[]): Promise<(Refusal | null)[]> {
  const items = ends.map(({ submission, version, run, data, metadata, bodies }) => ({
    submission_id: submission,
    started_version: version,
    run,
    schema_version: schemaVersion,
    data,
    metadata,
    stdout: encode(bodies.stdout),
    stderr: encode(bodies.stderr),
    compile_output: encode(bodies.compileOutput),
    report: encode(bodies.report),
  }))
  const rows = await sql<ConcludedRow[]>`
    select * from runledger.conclude(${json(sql, items)})`
  // The next ends need not wait for it.
  void notifyWaiters(
    sql,
    rows.map(({ waiters, notification }, n) => ({
      id: ends[n]?.submission ?? '',
      waiters,
      notification,
    })),
  )
  return rows.map(({ refusal }) => refusal)
}

/** Requeues the submission, or ends it where it was lost too often or is cancelled. Resolved, that is on disk. */
export async function interruptAttempt(
  { database, log }: Pick<ExecuteDependencies, 'database' | 'log'>,
  { submission, version, identity, run }: Attempt,
  { loss, isLast }: Loss,
): Promise<void> {
  const item = {
    submission_id: submission,
    started_version: version,
    run,
    schema_version: schemaVersion,
    data: loss,
    metadata: { actor: { worker: identity.workerId } },
    is_last: isLast,
  }
  reachFailpoint('execute.before_interrupt')
  const [row] = await untilAvailable(
    () => database<{ outcome: string; waiters: string[] | null }[]>`
      select outcome, waiters from runledger.interrupt(${json(database, [item])})`,
    log,
  )
  reachFailpoint('execute.after_interrupt')
  // Requeued already, or lost in a crash.
  if (row?.outcome === 'superseded' || row?.outcome === 'start_lost')
    log.warn({ submission, version, refusal: row.outcome }, 'execution.fenced')
  await notifyWaiters(database, [{ id: submission, waiters: row?.waiters ?? null }])
}

function encode(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('base64')
}
