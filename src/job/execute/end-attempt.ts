// Brings an attempt's end into the log: completed, cancelled, or interrupted and given back. Only one end can follow a
// start, so of two the second is dropped.
import { errorCode, sqlState } from '#database'
import { schemaVersion } from '#event'
import { reachFailpoint } from '#failpoint'
import type { Logger } from '#log'
import { untilAvailable } from '#retry'
import { maxLosses } from '#sweep'
import type { Attempt } from './attempt.ts'
import { describeOutcome } from './completion.ts'
import { conclude } from './conclude.ts'
import type { OutputQuotas } from './output-quota.ts'
import { describeLoss } from './run-attempt.ts'
import type { ExecuteDependencies, Finished, Loss, Ran } from './run-attempt.ts'
import { shorten } from './shorten.ts'
import { describeActor } from './start.ts'

/** Resolves when the end is in the log, or another one is. @throws when it can be neither ended nor given back. */
export async function endAttempt(
  dependencies: ExecuteDependencies,
  attempt: Attempt,
  ran: Ran,
  quotas: OutputQuotas,
): Promise<void> {
  if ('loss' in ran) {
    await interrupt(dependencies, attempt, ran)
    return
  }
  try {
    await concludeAttempt(dependencies, attempt, ran, quotas)
  } catch (error) {
    // A bug of ours or the database's; the submission goes back as lost.
    dependencies.log.error({ submission: attempt.submission, err: error }, 'execution.interrupted')
    await interrupt(dependencies, attempt, {
      loss: describeLoss(error, dependencies),
      isLast: false,
    })
  }
}

async function concludeAttempt(
  { database, log }: ExecuteDependencies,
  attempt: Attempt,
  { outcome, tests, expected, blobs, asksFiles, wasStopped, slotSeconds }: Finished,
  quotas: OutputQuotas,
): Promise<void> {
  const { submission, language, version, identity, run } = attempt
  const whole = await describeOutcome(outcome, expected, tests, wasStopped, asksFiles)
  const { data, ...bodies } = quotas.isUsedUp(attempt.accountId) ? shorten(whole) : whole
  const eventData = { ...data, ...(blobs && { blobs }), slot_seconds: slotSeconds }
  const metadata = { actor: { worker: identity.workerId } }
  reachFailpoint('execute.before_complete')
  try {
    await appendEnd(
      () => conclude(database, { submission, version, run, data: eventData, metadata, bodies }),
      log,
    )
  } catch (error) {
    const committed =
      errorCode(error) !== sqlState.startLost && (await isOurs(database, attempt, log))
    if (!committed) {
      if (!isFenced(error)) throw error
      log.warn(
        { submission, version, lost: errorCode(error) === sqlState.startLost },
        'execution.fenced',
      )
      return
    }
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
    wasStopped ? 'submission.cancelled' : 'execution.completed',
  )
}

/**
 * Appends an attempt's end. 23505 says that another event stands there: if that asks for the end, a second call appends the
 * end behind it; else it fails alike.
 */
async function appendEnd(statement: () => PromiseLike<unknown>, log: Logger): Promise<void> {
  try {
    await untilAvailable(statement, log)
  } catch (error) {
    if (errorCode(error) !== sqlState.uniqueViolation) throw error
    await untilAvailable(statement, log)
  }
}

/** Milliseconds of a UUID v7: when a submission came or an attempt began. */
function timeOfId(id: string): number {
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16)
}

async function interrupt(
  { database, log }: ExecuteDependencies,
  { submission, version, identity, run }: Attempt,
  { loss, isLast }: Loss,
): Promise<void> {
  const losses = isLast ? 1 : maxLosses
  reachFailpoint('execute.before_interrupt')
  try {
    await appendEnd(
      () => database`
        select runledger.interrupt_execution(
          ${submission}, ${version}, ${schemaVersion}, ${JSON.stringify(loss)}::text::jsonb,
          ${describeActor(identity.workerId)}::text::jsonb, ${losses}, ${run}
        )`,
      log,
    )
    reachFailpoint('execute.after_interrupt')
  } catch (error) {
    // Given back already, or lost in a crash.
    if (!isFenced(error)) throw error
    log.warn({ submission, version }, 'execution.fenced')
  }
}

/** True when others ended the attempt, or a database crash lost its start. */
function isFenced(error: unknown): boolean {
  const code = errorCode(error)
  return code === sqlState.uniqueViolation || code === sqlState.startLost
}

/**
 * True when this end was committed and its answer lost: only the version's holder can complete right after it, or, if that
 * was asked for, cancel.
 */
async function isOurs(
  database: ExecuteDependencies['database'],
  { submission, version }: Attempt,
  log: ExecuteDependencies['log'],
): Promise<boolean> {
  const [row] = await untilAvailable(
    () => database<{ version: number; status: string }[]>`
      select version, status from runledger.result where id = ${submission}`,
    log,
  )
  if (row?.status === 'completed') return row.version === version + 1
  return row?.status === 'cancelled' && row.version === version + 2
}
