// Writes an attempt's result into the log: completed, cancelled, or interrupted and requeued. Only one result can follow a
// start, so a second one is dropped. Results that come while statements are under way wait, and share the next statement and
// its commit (database/batch.ts).
import { createBatch, json, untilAvailable } from '#database'
import type { Database } from '#database'
import { schemaVersion } from '#event'
import type { Metadata } from '#event'
import { reachFailpoint } from '#failpoint'
import { notifyWaiters } from '#notify'
import type { Attempt } from './attempt.ts'
import { countBodies, describeOutcome } from './completion.ts'
import type { Completion } from './completion.ts'
import { describeLoss } from './loss.ts'
import type { Loss } from './loss.ts'
import type { OutputQuotas } from './output-quota.ts'
import type { ExecuteDependencies, Finished, Ran } from './run-attempt.ts'

/** An item of runledger.conclude. */
export interface End extends Pick<Attempt, 'submission' | 'version' | 'run'> {
  readonly data: object
  readonly metadata: Metadata
  readonly bodies: Omit<Completion, 'data'>
}

/** Why runledger.conclude has written nothing. */
type Refusal = 'stored' | 'superseded' | 'start_lost' | 'no_verdict'

/** Writes a result. Null when it is on disk. Safe to repeat. */
type Conclude = (end: End) => Promise<Refusal | null>

interface EndDependencies extends ExecuteDependencies {
  readonly conclude: Conclude
  readonly quotas: OutputQuotas
}

/**
 * Ends an attempt. Resolves when its result, or another one, is in the log.
 * @throws when the attempt can be neither ended nor requeued.
 */
export async function endAttempt(
  dependencies: EndDependencies,
  attempt: Attempt,
  ran: Ran,
): Promise<void> {
  if ('loss' in ran) {
    await interruptAttempt(dependencies, attempt, ran)
    return
  }
  try {
    await concludeAttempt(dependencies, attempt, ran)
  } catch (error) {
    // A bug of ours or of the database. The submission is requeued as lost.
    dependencies.log.error({ submission: attempt.submission, err: error }, 'execution.interrupted')
    const loss = describeLoss(error, dependencies)
    await interruptAttempt(dependencies, attempt, { loss, isLast: false })
  }
}

async function concludeAttempt(
  { conclude, quotas, log }: EndDependencies,
  attempt: Attempt,
  finished: Finished,
): Promise<void> {
  const { submission, language, version, identity, run } = attempt
  const isShort = quotas.isUsedUp(attempt.accountId)
  const { data, ...bodies } = await describeOutcome(finished, isShort)
  const metadata = { actor: { worker: identity.workerId } }
  reachFailpoint('execute.before_complete')
  const refusal = await untilAvailable(
    () => conclude({ submission, version, run, data, metadata, bodies }),
    log,
  )
  if (refusal === 'no_verdict') throw new Error('it was stopped, and nobody asked for that')
  // `stored`: the answer to an earlier call was lost.
  if (refusal !== null && refusal !== 'stored') {
    log.warn({ submission, version, refusal }, 'execution.fenced')
    return
  }
  reachFailpoint('execute.after_complete')
  quotas.note(attempt.accountId, bodies)
  log.info(
    {
      submission,
      language,
      version,
      account: attempt.accountId,
      worker: identity.workerId,
      queued_seconds: Math.max(0, (timeOfId(run) - timeOfId(submission)) / 1000),
      verdict: data.verdict,
      run: data.run,
      compile: data.compile,
    },
    finished.wasStopped ? 'submission.cancelled' : 'execution.completed',
  )
}

/**
 * Requeues the submission, or ends it when it is cancelled, was lost too often, or would fail again.
 * When it resolves, that is on disk.
 */
async function interruptAttempt(
  { database, log }: Pick<ExecuteDependencies, 'database' | 'log'>,
  { submission, version, identity, run }: Attempt,
  { loss, isLast }: Loss,
): Promise<void> {
  const metadata = { actor: { worker: identity.workerId } }
  reachFailpoint('execute.before_interrupt')
  const [row] = await untilAvailable(
    () => database<{ outcome: string; waiters: string[] | null }[]>`
      select outcome, waiters from runledger.interrupt(
        ${submission}, ${version}, ${run}, ${schemaVersion}, ${json(database, loss)}, ${json(database, metadata)}, ${isLast}
      )`,
    log,
  )
  reachFailpoint('execute.after_interrupt')
  // The attempt was requeued before, or a crash of the server has forgotten its start.
  if (row?.outcome === 'superseded' || row?.outcome === 'start_lost')
    log.warn({ submission, version, refusal: row.outcome }, 'execution.fenced')
  await notifyWaiters(database, submission, row?.waiters ?? null)
}

/** Results with more bytes may take longer to send and to store than other statements may take. */
const largeBytes = 1024 * 1024

/** @param patient the pool for large results, whose statements may take a minute. */
export function createConclude(sql: Database, patient: Database): Conclude {
  const countBytes = ({ bodies }: End): number => countBodies(bodies)
  return createBatch<End, Refusal | null>({
    // A large result is sent alone.
    run(ends) {
      const isLarge = ends.some((end) => countBytes(end) > largeBytes)
      return store(isLarge ? patient : sql, ends)
    },
    // Those of one worker share the disk's time as well.
    statements: 2,
    items: 32,
    countBytes,
  })
}

async function store(storing: Database, ends: readonly End[]): Promise<(Refusal | null)[]> {
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
  const [row] = await storing<[{ refusals: (Refusal | null)[] }]>`
    call runledger.conclude_and_notify(${json(storing, items)})`
  return row.refusals
}

function encode(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('base64')
}

/** Returns the time of a UUID v7 in milliseconds: when a submission was received or an attempt started. */
function timeOfId(id: string): number {
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16)
}
