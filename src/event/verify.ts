// Checks the ledger a step at a time: hashes, projections and invariants, and bodies on request. The reconciler keeps its
// position in the database (`checkLedger`). An operator passes on the position that each step returns (`verify`).
// `audit verify` checks the whole ledger (`verifyAll`).
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Queryable } from '#database'
import { firstId } from '#id'

const checks = ['drift', 'broken_chain', 'invariant', 'altered_body'] as const
type Check = (typeof checks)[number]

/** How many rows each audit view has for the checked streams. */
type Counts = Readonly<Record<Check, number>> & { readonly events: number }

interface Finding {
  readonly check: Check
  /** The position of the event that breaks the chain; null for other checks. */
  readonly position: number | null
  /** Names what was found and in which stream. */
  readonly what: string
}

/** The answer of runledger.verify. */
interface VerifyStep extends Counts {
  /** The first hundred streams in which something was found. */
  readonly suspects: readonly string[]
  /** The first finding of each check. */
  readonly first: readonly Finding[]
  /** Cursor for the next step; null at the end. */
  readonly next: string | null
  /** The share of the log's time span that is checked, from 0 to 1; null when busy. */
  readonly share: number | null
  /** Another step is running, so this one checked nothing. */
  readonly busy: boolean
}

interface Verification extends Counts {
  /** For broken_chain, the event with the lowest position; for any other check, the first finding in the order of ids. */
  readonly first: Readonly<Partial<Record<Check, string>>>
}

const eventsOfStep = 20_000
const busyMilliseconds = 100

/**
 * Checks one step.
 * @param after `next` of the previous step; null for the first step.
 * @param events about how many events the step checks.
 * @param bodies whether to check the bodies' hashes too, which reads all kept bodies.
 */
export async function verify(
  sql: Database,
  after: string | null,
  events: number,
  bodies = false,
): Promise<VerifyStep> {
  const [{ step }] = await sql<[{ step: VerifyStep }]>`
    select runledger.verify(${after ?? firstId}, ${events}, bodies => ${bodies}) as step`
  return step
}

/** Runs the reconciler's step. @returns the suspect streams in which nothing had been found before. */
export async function checkLedger(sql: Queryable, events: number): Promise<readonly string[]> {
  const [{ streams }] = await sql<[{ streams: readonly string[] }]>`
    select runledger.check_ledger(${events}) as streams`
  return streams
}

/** Checks the whole ledger, with bodies. @param onProgress called after each step with the share done (0 to 1). */
export async function verifyAll(
  sql: Database,
  onProgress: (share: number, soFar: Counts) => void = () => {},
  events = eventsOfStep,
): Promise<Verification> {
  const sum = { events: 0, drift: 0, broken_chain: 0, invariant: 0, altered_body: 0 }
  const first = new Map<Check, Finding>()
  for (let after: string | null = null; ;) {
    const step = await verify(sql, after, events, true)
    if (step.busy) {
      await sleep(busyMilliseconds)
      continue
    }
    sum.events += step.events
    for (const check of checks) sum[check] += step[check]
    for (const finding of step.first) {
      const known = first.get(finding.check)
      if (known === undefined || (finding.position ?? 0) < (known.position ?? 0))
        first.set(finding.check, finding)
    }
    onProgress(step.share ?? 0, sum)
    after = step.next
    if (after === null) break
  }
  return {
    ...sum,
    first: Object.fromEntries([...first].map(([check, { what }]) => [check, what])),
  }
}
