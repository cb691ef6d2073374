// The entry to the queue for all processes but the worker. It is separate from job.ts so that the web
// process never loads the executor.
import type { Database } from '#database'

export { cancelSubmission } from './cancel.ts'
export { createReceive } from './receive.ts'
export type { IntakeOutcome, Receive, Refusal, Replay } from './receive.ts'
export { rerunInCampaign, rerunSubmission } from './rerun.ts'
export type { RerunOutcome } from './rerun.ts'
export type { BatchItem, BatchWebhook, Submission, SubmissionContext } from './submission.ts'

/** Resolves when everything received so far is on disk (sql/functions/receive.sql). */
export async function flushLog(sql: Database): Promise<void> {
  await sql`select runledger.flush_log()`
}
