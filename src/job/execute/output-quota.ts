// Counts what the runs of an account may leave in a day (tier.output_bytes). Each worker counts by itself and reports to the
// database every few seconds; the answer includes what other workers count. So no result waits for the count, and a quota
// that is used up is known within a minute at the most.
import { json } from '#database'
import type { Database } from '#database'
import type { Logger } from '#log'
import { countBodies } from './completion.ts'
import type { Completion } from './completion.ts'

export interface OutputQuotas {
  /** True when only the beginning of further outputs may be kept. */
  isUsedUp(accountId: string): boolean
  /** Counts bodies that were kept. */
  note(accountId: string, bodies: Omit<Completion, 'data'>): void
  /** Called by the clock, more often than anything is reported. */
  tick(): void
  /** Reports what was counted since the last report. Never rejects. */
  report(): Promise<void>
}

/** The pause between reports, because other workers count too. */
const reportMilliseconds = 10_000

interface Counted {
  /** Bytes counted here since the last report. */
  unreported: number
  /** The count of the day by the last answer; null before the first. */
  known: { readonly bytes: number; readonly most: number | null } | null
}

interface CountRow {
  readonly account_id: string
  readonly bytes: number
  readonly most: number | null
}

export function createOutputQuotas(database: Database, log: Logger): OutputQuotas {
  const byAccount = new Map<string, Counted>()
  let reportedAt = Number.NEGATIVE_INFINITY
  let reporting: Promise<void> = Promise.resolve()
  let isReporting = false

  const isOver = ({ known, unreported }: Counted): boolean =>
    known !== null && known.most !== null && known.bytes + unreported >= known.most

  async function reportNow(): Promise<void> {
    reportedAt = performance.now()
    // An account that left nothing since the last report is asked about again after its next output.
    for (const [account, counted] of byAccount)
      if (counted.unreported === 0 && !isOver(counted)) byAccount.delete(account)
    if (byAccount.size === 0) return
    const reported = [...byAccount].map(([account, counted]) => {
      return { account, counted, bytes: counted.unreported }
    })
    const sums = Object.fromEntries(reported.map(({ account, bytes }) => [account, bytes]))
    const rows = await database<CountRow[]>`
      select * from runledger.count_output(${json(database, sums)})`
    const answers = new Map(rows.map((row) => [row.account_id, row]))
    for (const { account, counted, bytes } of reported) {
      // More may have been counted meanwhile.
      counted.unreported -= bytes
      // An account that was removed has no quota.
      counted.known = answers.get(account) ?? counted.known ?? { bytes: 0, most: null }
    }
  }

  async function report(): Promise<void> {
    isReporting = true
    reporting = reporting.then(reportNow).catch((error: unknown) => {
      log.warn({ err: error }, 'output.not_counted')
    })
    await reporting
    isReporting = false
  }

  return {
    isUsedUp(accountId) {
      const counted = byAccount.get(accountId)
      return counted !== undefined && isOver(counted)
    },

    note(accountId, bodies) {
      const bytes = countBodies(bodies)
      if (bytes === 0) return
      const counted = byAccount.get(accountId) ?? { unreported: 0, known: null }
      counted.unreported += bytes
      byAccount.set(accountId, counted)
    },

    tick() {
      if (isReporting || byAccount.size === 0) return
      if (performance.now() - reportedAt >= reportMilliseconds) void report()
    },

    report,
  }
}
