// The table of planted faults: one line of src or sql each, wrong in a way that a user would notice, and the tests that
// have to see it.
import { accountFaults } from './fault/account.ts'
import { blobFaults } from './fault/blob.ts'
import { checkerFaults } from './fault/checker.ts'
import { consoleFaults } from './fault/console.ts'
import { executorFaults } from './fault/executor.ts'
import { httpFaults } from './fault/http.ts'
import { jobFaults } from './fault/job.ts'
import { ledgerFaults } from './fault/ledger.ts'
import { operatorFaults } from './fault/operator.ts'
import { toolFaults } from './fault/tool.ts'
import { webhookFaults } from './fault/webhook.ts'

export interface Fault {
  /** Room, and what is wrong: unique. */
  readonly name: string
  /** Occurs exactly once in src and sql together, so that the file may move. */
  readonly text: string
  readonly instead: string
  /** Room and name of each test file that has to go red: `http/submit` is test/http/submit.test.ts, or deeper. */
  readonly tests: readonly string[]
}

/** All of them. */
export const faults: readonly Fault[] = [
  ...accountFaults,
  ...blobFaults,
  ...checkerFaults,
  ...consoleFaults,
  ...executorFaults,
  ...httpFaults,
  ...jobFaults,
  ...ledgerFaults,
  ...operatorFaults,
  ...toolFaults,
  ...webhookFaults,
]
