// The check of the ledger, a step at a time: hashes, projections and promises, and bodies if asked. The reconciler keeps its
// place in the database (`checkLedger`), an operator the place that each step answers (`verify`), `audit verify` goes through
// all of it (`verifyAll`).
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Queryable } from '#database'
import { firstId } from '#id'

const checks = ['drift', 'broken_chain', 'invariant', 'altered_body'] as const
type Check = (typeof checks)[number]

/** How many rows each audit view has of the streams that were looked at. */
type Counts = Readonly<Record<Check, number>> & { readonly events: number }

interface Finding {
  readonly check: Check
  /** Of the event that does not fit; null for other checks. */
  readonly position: number | null
  /** Names its place. */
  readonly what: string
}

/** As runledger.verify answers. */
export interface VerifyStep extends Counts {
  /** The first hundred streams in which something was found. */
  readonly suspects: readonly string[]
  /** Of each check. */
  readonly first: readonly Finding[]
  /** Cursor for the next step; null at the end. */
  readonly next: string | null
  /** Of the log's time that is behind it, from 0 to 1; null when busy. */
  readonly share: number | null
  /** Somebody else's step is under way: nothing was looked at. */
  readonly busy: boolean
}

export interface Verification extends Counts {
  /** The broken event with the lowest position; of another check the first in the order of ids. */
  readonly first: Readonly<Partial<Record<Check, string>>>
}

const eventsOfStep = 20_000
const busyMilliseconds = 100

/**
 * @param after the `next` of the step before; null begins.
 * @param events of the step, about.
 * @param bodies their hashes too: reads all that is kept.
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

/** The reconciler's step. @returns streams in which nothing had been found before. */
export async function checkLedger(sql: Queryable, events: number): Promise<readonly string[]> {
  const [{ streams }] = await sql<[{ streams: readonly string[] }]>`
    select runledger.check_ledger(${events}) as streams`
  return streams
}

/** @param onProgress called with the share done (0 to 1). */
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
