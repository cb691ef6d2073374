// Receives the submissions of one request: all the good ones or none, with the webhook of all of them.
import { createId } from '#id'
import { reachFailpoint } from './failpoint.ts'
import type { Receive, Refusal } from './receive.ts'
import { describeIntake } from './submission.ts'
import type { Batch, Submission, SubmissionContext } from './submission.ts'

/** A good item's id, or a bad one's refusal. */
type BatchAnswer = { readonly id: string } | object

interface Answered {
  /** Of the batch, if it has a webhook; null when none of its items was accepted, and there is no webhook. */
  readonly id?: string | null
  readonly submissions: readonly BatchAnswer[]
}

export type BatchOutcome =
  | { readonly kind: 'received'; readonly answer: Answered }
  /** The idempotency key was used before: the first answer. */
  | { readonly kind: 'replayed'; readonly answer: Answered; readonly matches: boolean }
  | Refusal

export type BatchItem = { readonly id: string } & (
  { readonly submission: Submission } | { readonly submission: null; readonly refusal: object }
)

/**
 * Like `receiveSubmission`. A batch without good items is not remembered.
 * @param signal withdraws an unsent statement.
 * @param webhook sent once, when all good items have ended.
 */
export async function receiveBatch(
  receive: Receive,
  items: readonly BatchItem[],
  context: SubmissionContext,
  signal: AbortSignal,
  webhook: Omit<NonNullable<Batch['webhook']>, 'id'> | null = null,
): Promise<BatchOutcome> {
  const submissions = items.map((item): BatchAnswer =>
    item.submission === null ? item.refusal : { id: item.id },
  )
  const isEmpty = items.every(({ submission }) => submission === null)
  const own = webhook === null ? null : { id: createId(), ...webhook }
  const answer = { ...(own !== null && { id: isEmpty ? null : own.id }), submissions }
  if (isEmpty) return { kind: 'received', answer }

  const intake = describeIntake(items, context, { answer: JSON.stringify(answer), webhook: own })
  reachFailpoint('batch.before_commit')
  const outcome = await receive(intake, signal)
  reachFailpoint('batch.after_commit')
  if (outcome.kind === 'received') return { kind: 'received', answer }
  if (outcome.kind !== 'replayed') return outcome
  const { id, matches } = outcome
  const earlier: Answered =
    outcome.answer === null ? { submissions: [{ id }] } : JSON.parse(outcome.answer)
  return { kind: 'replayed', answer: earlier, matches }
}
