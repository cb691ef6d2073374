// Receives the submissions of one request: all the good ones or none.
import type { Database } from '#database'
import { reachFailpoint } from './failpoint.ts'
import { receive } from './receive.ts'
import type { Refusal } from './receive.ts'
import { describeIntake } from './submission.ts'
import type { Submission, SubmissionContext } from './submission.ts'

/** A good item's id, or a bad one's refusal. */
export type BatchAnswer = { readonly id: string } | object

export type BatchReception =
  | { readonly kind: 'received'; readonly answer: readonly BatchAnswer[] }
  /** The idempotency key was used before: the first answer. */
  | {
      readonly kind: 'replayed'
      readonly answer: readonly BatchAnswer[]
      readonly matches: boolean
    }
  | Refusal

export type BatchItem = { readonly id: string } & (
  { readonly submission: Submission } | { readonly submission: null; readonly refusal: object }
)

/**
 * Like `receiveSubmission`. A batch without good items is not remembered.
 * @param signal withdraws an unsent statement.
 */
export async function receiveBatch(
  sql: Database,
  items: readonly BatchItem[],
  context: SubmissionContext,
  signal: AbortSignal,
): Promise<BatchReception> {
  const answer = items.map((item): BatchAnswer =>
    item.submission === null ? item.refusal : { id: item.id },
  )
  if (items.every(({ submission }) => submission === null)) return { kind: 'received', answer }

  const intake = describeIntake(items, context, JSON.stringify(answer))
  reachFailpoint('batch.before_commit')
  const outcome = await receive(sql, intake, signal)
  reachFailpoint('batch.after_commit')
  if (outcome.kind === 'received') return { kind: 'received', answer }
  if (outcome.kind !== 'replayed') return outcome
  const { id, matches } = outcome
  const earlier = outcome.answer === null ? [{ id }] : (JSON.parse(outcome.answer) as BatchAnswer[])
  return { kind: 'replayed', answer: earlier, matches }
}
