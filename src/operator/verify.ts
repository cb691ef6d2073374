// A walk through the whole ledger, a step at a time: whoever asked keeps where it stands.
import type { Database } from '#database'
import { firstId } from '#id'

export interface VerifyStep {
  /** That it went through. */
  readonly events: number
  /** Rows of audit.drift; broken_chain and invariant likewise. */
  readonly drift: number
  readonly broken_chain: number
  readonly invariant: number
  /** The first ten streams in which something was found. */
  readonly suspects: readonly string[]
  /** Whence to go on; null: that was all. */
  readonly next: string | null
  /** How much of the log's time is behind it, from 0 to 1; null: not known. */
  readonly share: number | null
  /** Another walk took its step: nothing was looked at. */
  readonly busy: boolean
}

// Within the two seconds that a statement of the web process has, on a slow machine too.
const stepEvents = 1000

/** @param after the `next` of the step before; null begins. */
export async function verifyStep(sql: Database, after: string | null): Promise<VerifyStep> {
  const [{ step }] = await sql<[{ step: VerifyStep }]>`
    select runledger.verify_part(${after ?? firstId}, ${stepEvents}) as step`
  return step
}
