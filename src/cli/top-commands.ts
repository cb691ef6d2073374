// The command `top`: shows the whole service in a terminal, for example over ssh, with data of the operator API.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { unlessAborted, untilAborted } from '#abort'
import { RunledgerError } from '#client'
import type { Operator, Overview } from '#client'
import { defineCommand, flag } from './command.ts'
import { makeVisible, show } from './output.ts'
import { askOperator, operatorOptions } from './service.ts'
import { drawOverview } from './top.ts'

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

async function watch(operator: Operator): Promise<void> {
  const { stdout } = process
  const over = new AbortController()
  const end = (): void => over.abort()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.once(signal, end)
  stdout.write(enter)
  try {
    await unlessAborted(drawOn(operator, over.signal), over.signal)
  } finally {
    stdout.write(leave)
    for (const signal of signals) process.off(signal, end)
  }
}

/** Draws the overview again and again. @throws the signal's reason, an error of the first request, or a lasting error. */
async function drawOn(operator: Operator, signal: AbortSignal): Promise<never> {
  const { stdout } = process
  let seen: Overview | null = null
  for (;;) {
    signal.throwIfAborted()
    const { overview, trouble } = await look(operator, seen, signal)
    seen = overview
    // A terminal that does not know its size reports 0.
    const lines = [...trouble, ...drawOverview(overview, stdout.columns || undefined)]
    const shown = lines.slice(0, stdout.rows > 0 ? stdout.rows - 1 : undefined)
    const text = shown.map((line) => `${line}${escape}K\r\n`).join('')
    // Waits while the terminal takes no output, so that none piles up.
    if (!stdout.write(`${escape}H${text}${escape}J`))
      await untilAborted(once(stdout, 'drain'), signal)
    await sleep(refreshMilliseconds, undefined, { signal }).catch(() => {})
  }
}

/** Requests an overview. While the service does not answer, returns the last overview and a line that says so. */
async function look(
  operator: Operator,
  seen: Overview | null,
  signal: AbortSignal,
): Promise<{ overview: Overview; trouble: readonly string[] }> {
  try {
    return { overview: await operator.overview({ signal }), trouble: [] }
  } catch (error) {
    if (seen === null || !isTransient(error)) throw error
    const message = makeVisible((error as Error).message)
    return {
      overview: seen,
      trouble: [
        `OLD       as of ${seen.at}: ${message}`.slice(0, process.stdout.columns || undefined),
      ],
    }
  }
}

function isTransient(error: unknown): boolean {
  return error instanceof RunledgerError && (error.status === 0 || error.status >= 500)
}
