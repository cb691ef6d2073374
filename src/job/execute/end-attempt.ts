// Brings an attempt's end into the log: completed, cancelled, or interrupted and requeued. Only one end can follow a start,
// so of two the second is dropped.
import { reachFailpoint } from '#failpoint'
import { untilAvailable } from '#retry'
import type { Attempt } from './attempt.ts'
import { describeOutcome } from './completion.ts'
import type { Conclude } from './conclude.ts'
import { interruptAttempt } from './conclude.ts'
import type { OutputQuotas } from './output-quota.ts'
import { describeLoss } from './run-attempt.ts'
import type { ExecuteDependencies, Finished, Ran } from './run-attempt.ts'
import { shorten } from './shorten.ts'

interface EndDependencies extends ExecuteDependencies {
  readonly conclude: Conclude
  readonly quotas: OutputQuotas
}

/** Resolves when the end is in the log, or another one is. @throws when it can be neither ended nor requeued. */
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
    // A bug of ours or the database's; the submission goes back as lost.
    dependencies.log.error({ submission: attempt.submission, err: error }, 'execution.interrupted')
    const loss = describeLoss(error, dependencies)
    await interruptAttempt(dependencies, attempt, { loss, isLast: false })
  }
}

async function concludeAttempt(
  { conclude, quotas, log }: EndDependencies,
  attempt: Attempt,
  { outcome, tests, expected, blobs, asksFiles, wasStopped, slotSeconds }: Finished,
): Promise<void> {
  const { submission, language, version, identity, run } = attempt
  const whole = await describeOutcome(outcome, expected, tests, wasStopped, asksFiles)
  const { data, ...bodies } = quotas.isUsedUp(attempt.accountId) ? shorten(whole) : whole
  const eventData = { ...data, ...(blobs && { blobs }), slot_seconds: slotSeconds }
  const metadata = { actor: { worker: identity.workerId } }
  reachFailpoint('execute.before_complete')
  const refusal = await untilAvailable(
    () => conclude({ submission, version, run, data: eventData, metadata, bodies }),
    log,
  )
  if (refusal === 'no_verdict') throw new Error('it was stopped, and nobody asked for that')
  // Stored: the answer to an earlier call was lost.
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
    wasStopped ? 'submission.cancelled' : 'execution.completed',
  )
}

/** Milliseconds of a UUID v7: when a submission came or an attempt began. */
function timeOfId(id: string): number {
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16)
}
