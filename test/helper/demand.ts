// Submits with a requirement that no release fulfils yet, for tests that a worker leaves such a submission to others.
import type { Caller } from '#account'
import { json } from '#database'
import type { Database } from '#database'
import { createId } from '#id'
import { describeIntake } from '../../src/job/submission.ts'
import { describeContext, describeSubmission } from './submission.ts'

/** A capability that no worker has. */
export const tomorrow = 'what_comes_tomorrow'

/** Submits with a requirement of a later release. @returns the submission's id. */
export async function submitTomorrow(
  sql: Database,
  caller: Caller,
  given: Parameters<typeof describeSubmission>[0],
): Promise<string> {
  const id = createId()
  const submission = describeSubmission({ options: { args: ['beside it'] }, ...given })
  const { request, submissions } = describeIntake([{ id, submission }], describeContext(caller))
  const [item] = submissions as [{ data: object }]
  const demanding = { ...item, request: 1, data: { ...item.data, demands: [tomorrow] } }
  await sql`select runledger.receive(${json(sql, [request])}, ${json(sql, [demanding])})`
  return id
}
