// The table of planted faults: each is one wrong line in src or sql that a user would notice, and the tests that must detect
// it.
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
  /** The room and the fault; unique. */
  readonly name: string
  /** Occurs exactly once in src and sql together, so that the file may move. */
  readonly text: string
  readonly instead: string
  /** Room and name of each test file that must fail: `http/submit` is test/http/submit.test.ts, or deeper. */
  readonly tests: readonly string[]
}

/** All planted faults. */
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
