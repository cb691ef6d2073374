// The command `top`: shows the whole service in a terminal, for example over ssh, with data of the operator API. It begins with
// the submission that has waited longest.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { RunledgerError } from '#client'
import type { BusyAccount, Operator, Overview, SeenWorker } from '#client'
import { defineCommand, flag } from './command.ts'
import { alignColumns, makeVisible, show } from './output.ts'
import { askOperator, operatorOptions } from './service.ts'

const refreshMilliseconds = 1000
const escape = '\u001B['
/** Switches to the alternate screen, so that the former screen comes back at the end, and hides the cursor. */
const enter = `${escape}?1049h${escape}?25l`
const leave = `${escape}?25h${escape}?1049l`

export const topCommands = [
  defineCommand({
    name: 'top',
    summary: 'watch the service: queue, running submissions, workers, accounts, the ledger',
    notes:
      'Refreshed each second until Ctrl-C; printed once if stdout is not a terminal. A read-only operator’s key suffices.',
    options: {
      once: flag('print it once on a terminal too'),
      json: flag('once, as JSON'),
      ...operatorOptions,
    },
    run: ({ values }) => {
      const { stdout } = process
      if (stdout.isTTY && !values.once && !values.json) return askOperator(values, watch, 0)
      return askOperator(values, async (operator) => {
        const overview = await operator.overview()
        const lines = values.json ? [JSON.stringify(overview)] : drawOverview(overview)
        for (const line of lines) stdout.write(`${show(line, stdout)}\n`)
      })
    },
  }),
]

/**
 * Draws the overview until the process gets a signal. While the service does not answer, draws the last one, and a line that says
 * so.
 * @throws an error of the first request, or a lasting error.
 */
async function watch(operator: Operator): Promise<never> {
  const { stdout } = process
  const end = (): void => {
    stdout.write(leave)
    process.exit()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end)
  stdout.write(enter)
  let seen: Overview | null = null
  try {
    for (;;) {
      // A terminal that does not know its size reports 0.
      const columns = stdout.columns || undefined
      const lines: string[] = []
      try {
        seen = await operator.overview()
      } catch (error) {
        if (seen === null || !isTransient(error)) throw error
        lines.push(`OLD       as of ${seen.at}: ${makeVisible(error.message)}`.slice(0, columns))
      }
      lines.push(...drawOverview(seen, columns))
      const shown = lines.slice(0, stdout.rows > 0 ? stdout.rows - 1 : undefined)
      const text = shown.map((line) => `${line}${escape}K\r\n`).join('')
      // Waits while the terminal takes no output, so that none piles up.
      if (!stdout.write(`${escape}H${text}${escape}J`)) await once(stdout, 'drain')
      await sleep(refreshMilliseconds)
    }
  } finally {
    stdout.write(leave)
  }
}

function isTransient(error: unknown): error is RunledgerError {
  return error instanceof RunledgerError && (error.status === 0 || error.status >= 500)
}

/** Returns plain lines, none longer than the terminal is wide. */
export function drawOverview(overview: Overview, columns = Number.POSITIVE_INFINITY): string[] {
  const lines = [
    ...drawSummary(overview),
    '',
    ...drawTable(
      'WORKER HOST STATE BUSY HEARTBEAT BOX VERSION'.split(' '),
      overview.workers.map(drawWorker),
    ),
    '',
    ...drawTable(
      'LANGUAGE WAITING LOW RUNNING OLDEST'.split(' '),
      overview.languages.map(({ language, waiting, low, running, oldest_seconds: oldest }) =>
        [language, waiting, low, running, waiting === 0 ? '–' : formatAge(oldest)].map(String),
      ),
    ),
    '',
    ...drawTable(
      'ACCOUNT WAITING RUNNING KEY ADMITTED REQUESTS'.split(' '),
      overview.accounts.flatMap(drawAccount),
    ),
  ]
  return lines.map((line) => line.slice(0, columns).toWellFormed())
}

function drawSummary({ at, oldest, load, recent, ledger }: Overview): string[] {
  const verdicts = Object.entries(recent.verdicts).map(
    ([name, count]) => `${makeVisible(name)} ${count}`,
  )
  const perSecond = (count: number): string =>
    recent.seconds === 0 ? '0' : (count / recent.seconds).toFixed(1)
  const percentiles = (name: string, figures: typeof recent.ran): string =>
    figures === null
      ? `${name} –`
      : `${name} ${[figures.p50, figures.p95, figures.p99].map(formatAge).join(' / ')}`
  return [
    oldest === null
      ? 'oldest    nothing waits'
      : `oldest    ${formatAge(oldest.seconds)}  ${makeVisible(oldest.language)} of ${makeVisible(oldest.account)}, ${oldest.priority}, ${oldest.id}`,
    `depth     ${load.queued} for a worker (oldest ${formatAge(load.oldest_queued_seconds)}), ${load.waiting} for their key’s limit; ${load.deliveries_pending} webhooks`,
    `running   ${load.running} in ${load.slots} slots of ${load.workers} workers; ${load.suspended_workers} suspended, ${load.paused_workers} paused`,
    `rate      ${perSecond(recent.received)}/s in, ${perSecond(recent.ended)}/s out, of the last ${formatAge(recent.seconds)}`,
    `p50/95/99 ${percentiles('waited', recent.waited)}, ${percentiles('ran', recent.ran)}, ${percentiles('in all', recent.took)}`,
    `verdicts  ${verdicts.length === 0 ? '–' : verdicts.join('  ')}`,
    `ledger    ${formatLedger(ledger, Date.parse(at))}`,
  ]
}

function formatLedger(ledger: Overview['ledger'], now: number): string {
  if (ledger.checked_at === null) return 'not checked yet'
  const age = (time: string): string => formatAge((now - Date.parse(time)) / 1000)
  const walked = ledger.walked_at === null ? 'never yet' : `${age(ledger.walked_at)} ago`
  const { drift, broken_chain: chain, invariant } = ledger
  const found = `drift ${drift}, broken_chain ${chain}, invariant ${invariant}`
  return `${drift + chain + invariant === 0 ? 'whole' : 'NOT WHOLE'}: ${found}; checked ${age(ledger.checked_at)} ago, all of it ${walked}`
}

function drawWorker(worker: SeenWorker): string[] {
  const { state, suspended_because: because } = worker
  return [
    worker.id,
    worker.host,
    because === null ? state : `${state} (${because})`,
    `${worker.busy}/${worker.slots}`,
    formatAge(worker.heartbeat_seconds),
    [worker.box, worker.cgroup].filter((part) => part !== null).join(' ') || '–',
    worker.version ?? '–',
  ]
}

function drawAccount({ name, waiting, running, keys }: BusyAccount): string[][] {
  return keys.map((key, index) => [
    index === 0 ? name : '',
    index === 0 ? String(waiting) : '',
    index === 0 ? String(running) : '',
    [`${key.label}…`, key.name ?? [], key.tier].flat().join(' '),
    `${key.admitted}/${key.concurrent_executions ?? '∞'}`,
    key.requests_per_minute === null ? '∞' : `${key.requests}/${key.requests_per_minute}`,
  ])
}

function drawTable(heads: readonly string[], given: readonly (readonly string[])[]): string[] {
  if (given.length === 0) return [`${heads[0]?.toLowerCase()}  none`]
  return alignColumns([heads, ...given.map((row) => row.map(makeVisible))])
}

/** Formats a duration, such as `80 ms`, `2.5 s`, `12 min`, `3.2 h`, `4.0 d`. */
export function formatAge(seconds: number): string {
  if (seconds < 1) return `${Math.round(Math.max(0, seconds) * 1000)} ms`
  if (seconds < 100) return `${seconds.toFixed(1)} s`
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800
    ? `${(seconds / 3600).toFixed(1)} h`
    : `${(seconds / 86_400).toFixed(1)} d`
}
