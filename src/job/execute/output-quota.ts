// What the runs of an account may leave in a day (tier.output_bytes). A worker counts it by itself, and every few seconds tells
// the database, whose answer has what other workers count: so no end waits for it, and it is known within a minute at the most.
import { json } from '#database'
import type { Database } from '#database'
import type { Logger } from '#log'
import type { Completion } from './completion.ts'

export interface OutputQuotas {
  /** True: of further outputs only the beginning is to be kept. */
  isUsedUp(accountId: string): boolean
  /** These were kept. */
  note(accountId: string, bodies: Omit<Completion, 'data'>): void
  /** Called by the clock, more often than anything is told. */
  tick(): void
  /** What was counted and not told. Never rejects. */
  tell(): Promise<void>
}

/** As there is more than one worker. */
const tellMilliseconds = 10_000
/** An account of whose day nothing is known is asked about so soon. */
const askMilliseconds = 1000
/** Whoever has left nothing for so long is asked about again when he does. */
const forgottenMilliseconds = 10 * 60_000

interface Counted {
  /** Here, since the database was told. */
  untold: number
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
  let toldAt = Number.NEGATIVE_INFINITY
  let telling: Promise<void> = Promise.resolve()
  let isTelling = false

  const isOver = ({ known, untold }: Counted): boolean =>
    known !== null && known.most !== null && known.bytes + untold >= known.most

  async function tellNow(): Promise<void> {
    toldAt = performance.now()
    for (const [account, counted] of byAccount)
      if (
        counted.untold === 0 &&
        toldAt - counted.notedAt > forgottenMilliseconds &&
        !isOver(counted)
      )
        byAccount.delete(account)
    if (byAccount.size === 0) return
    const told = new Map([...byAccount].map(([account, { untold }]) => [account, untold]))
    const rows = await database<CountRow[]>`
      select * from runledger.count_output(${json(database, Object.fromEntries(told))})`
    for (const { account_id: account, bytes, most } of rows) {
      const counted = byAccount.get(account)
      if (counted !== undefined) counted.known = { bytes, most }
    }
    for (const [account, bytes] of told) {
      const counted = byAccount.get(account)
      if (counted === undefined) continue
      // More may have been counted meanwhile.
      counted.untold -= bytes
      // An account that somebody has removed has no quota.
      counted.known ??= { bytes: 0, most: null }
    }
  }

  async function tell(): Promise<void> {
    isTelling = true
    telling = telling.then(tellNow).catch((error: unknown) => {
      log.warn({ err: error }, 'output.not_counted')
    })
    await telling
    isTelling = false
  }

  return {
    isUsedUp(accountId) {
      const counted = byAccount.get(accountId)
      return counted !== undefined && isOver(counted)
    },

    note(accountId, bodies) {
      const bytes = Object.values(bodies).reduce((sum, body) => sum + (body?.byteLength ?? 0), 0)
      if (bytes === 0) return
      const counted = byAccount.get(accountId) ?? { untold: 0, known: null, notedAt: 0 }
      counted.untold += bytes
      counted.notedAt = performance.now()
      byAccount.set(accountId, counted)
    },

    tick() {
      if (isTelling || byAccount.size === 0) return
      const waited = performance.now() - toldAt
      const asks =
        waited >= askMilliseconds && byAccount.values().some(({ known }) => known === null)
      if (asks || waited >= tellMilliseconds) void tell()
    },

    tell,
  }
}
