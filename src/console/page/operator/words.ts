// Computes the texts of the operators' view without a browser.
import type { LedgerHealth, OrderWord, Percentiles, SeenWorker } from '#client'
import { formatSeconds } from '../format.ts'
import type { Tone } from '../format.ts'

/** Formats seconds briefly: `80 ms`, `2.5 s`, `12 min`, `3.2 h`, `4 d`. */
export function formatAge(seconds: number): string {
  const whole = Math.max(0, seconds)
  if (whole < 60) return formatSeconds(whole)
  if (whole < 5400) return `${Math.round(whole / 60)} min`
  const [figure, unit] = whole < 172_800 ? [whole / 3600, 'h'] : [whole / 86_400, 'd']
  return `${Number(figure.toFixed(1))} ${unit}`
}

export function formatRate(count: number, seconds: number): string {
  const rate = seconds > 0 ? count / seconds : 0
  return `${Number(rate.toFixed(rate < 1 ? 2 : rate < 10 ? 1 : 0))}/s`
}

/** Formats percentiles as `p50 / p95 / p99`, or a dash when there are none. */
export function formatPercentiles(figures: Percentiles | null): string {
  return figures === null
    ? '–'
    : [figures.p50, figures.p95, figures.p99].map((one) => formatAge(one)).join(' / ')
}

/** Formats use as `3 of 10`, or `3` without a limit. */
export function formatUse(used: number, limit: number | null): string {
  return limit === null ? String(used) : `${used} of ${limit}`
}

/** True when nothing is left of a limit. */
export function isUsedUp(used: number, limit: number | null): boolean {
  return limit !== null && used >= limit
}

export function judgeLedger(
  ledger: LedgerHealth,
  at: string,
): { readonly tone: Tone; readonly text: string } {
  const { drift, broken_chain: chain, invariant, checked_at: checked, walked_at: walked } = ledger
  const ago = (time: string): string => formatAge((Date.parse(at) - Date.parse(time)) / 1000)
  if (checked === null) return { tone: 'none', text: 'Not verified yet.' }
  const whole = walked === null ? 'not yet' : `${ago(walked)} ago`
  const verified = `Newest events verified ${ago(checked)} ago, the whole ledger ${whole}.`
  if (drift + chain + invariant === 0) return { tone: 'good', text: verified }
  return {
    tone: 'fault',
    text: `${drift} rows differ from the log, ${chain} hashes do not fit, ${invariant} rules are broken. ${verified}`,
  }
}

/** Returns a worker's colour. `bad`: it takes no work although no operator ordered that. */
export function judgeWorker({ state }: Pick<SeenWorker, 'state'>): Tone {
  if (state === 'working') return 'good'
  return state === 'suspended' || state === 'gone' ? 'bad' : 'none'
}

/** Lists the commands that make sense for a worker in this state. */
export function listOrders({
  state,
  wanted,
}: Pick<SeenWorker, 'state' | 'wanted'>): readonly OrderWord[] {
  if (state === 'gone' || wanted === 'drained' || wanted === 'restarted') return []
  return wanted === 'paused' ? ['resume', 'drain'] : ['pause', 'drain']
}
