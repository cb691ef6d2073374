// What the runs of an account may leave in a day (tier.output_bytes). A worker counts it by itself, and every few seconds reports
// it to the database, whose answer has what other workers count: so no end waits for it, and it is known within a minute at the most.
import { json } from '#database'
import type { Database } from '#database'
import type { Logger } from '#log'
import type { Completion } from './completion.ts'

export interface OutputQuotas {
  /** True: of further outputs only the beginning is to be kept. */
  isUsedUp(accountId: string): boolean
  /** These were kept. */
  note(accountId: string, bodies: Omit<Completion, 'data'>): void
  /** Called by the clock, more often than anything is reported. */
  tick(): void
  /** Reports what was counted since. Never rejects. */
  report(): Promise<void>
}

/** As there is more than one worker. */
const reportMilliseconds = 10_000
/** An account of whose day nothing is known is asked about so soon. */
const askMilliseconds = 1000
/** Whoever has left nothing for so long is asked about again when he does. */
const forgottenMilliseconds = 10 * 60_000

interface Counted {
  /** Here, since the last report. */
  unreported: number
  /** Of today, as it said then; null: it did not yet. */
  known: { readonly bytes: number; readonly most: number | null } | null
  notedAt: number
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
    for (const [account, counted] of byAccount)
      if (
        counted.unreported === 0 &&
        reportedAt - counted.notedAt > forgottenMilliseconds &&
        !isOver(counted)
      )
        byAccount.delete(account)
    if (byAccount.size === 0) return
    const reported = new Map(
      [...byAccount].map(([account, { unreported }]) => [account, unreported]),
    )
    const rows = await database<CountRow[]>`
      select * from runledger.count_output(${json(database, Object.fromEntries(reported))})`
    for (const { account_id: account, bytes, most } of rows) {
      const counted = byAccount.get(account)
      if (counted !== undefined) counted.known = { bytes, most }
    }
    for (const [account, bytes] of reported) {
      const counted = byAccount.get(account)
      if (counted === undefined) continue
      // More may have been counted meanwhile.
      counted.unreported -= bytes
      // An account that somebody has removed has no quota.
      counted.known ??= { bytes: 0, most: null }
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
      const bytes = Object.values(bodies).reduce((sum, body) => sum + (body?.byteLength ?? 0), 0)
      if (bytes === 0) return
      const counted = byAccount.get(accountId) ?? { unreported: 0, known: null, notedAt: 0 }
      counted.unreported += bytes
      counted.notedAt = performance.now()
      byAccount.set(accountId, counted)
    },

    tick() {
      if (isReporting || byAccount.size === 0) return
      const waited = performance.now() - reportedAt
      const asks =
        waited >= askMilliseconds && byAccount.values().some(({ known }) => known === null)
      if (asks || waited >= reportMilliseconds) void report()
    },

    report,
  }
}
