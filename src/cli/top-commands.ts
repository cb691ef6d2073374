// `top`: the whole service in a terminal, over ssh. It reads the database, as `workers` does: it needs no key, and works when no
// web process does.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { unlessAborted, untilAborted } from '#abort'
import { isUnavailable, surviveLostConnections } from '#database'
import type { Database } from '#database'
import { readOverview } from '#operator'
import type { Overview } from '#operator'
import { defineCommand } from './command.ts'
import { withDatabase } from './connect.ts'
import { makeVisible, show } from './output.ts'
import { drawOverview } from './top.ts'

const refreshMilliseconds = 1000
// It only reads: nothing is lost with a statement that nobody waits for.
const limits = { statementSeconds: 5, endSeconds: 0 }
const escape = '\u001B['
/** A screen of its own, so that what was there before comes back; no cursor. */
const enter = `${escape}?1049h${escape}?25l`
const leave = `${escape}?25h${escape}?1049l`

export const topCommands = [
  defineCommand({
    name: 'top',
    operands: [],
    summary: 'watch the service: queue, running submissions, workers, accounts, the ledger',
    notes:
      'Refreshed each second until Ctrl-C. Where stdout is no terminal, it is printed once. An auditor’s login suffices.',
    options: {
      once: { type: 'boolean', help: 'print it once on a terminal too' },
      json: { type: 'boolean', help: 'once, as JSON' },
    },
    run: ({ values }) =>
      withDatabase(async (sql) => {
        const { stdout } = process
        if (stdout.isTTY && !values.once && !values.json) return watch(sql)
        const overview = await readOverview(sql)
        const lines = values.json ? [JSON.stringify(overview)] : drawOverview(overview)
        for (const line of lines) stdout.write(`${show(line, stdout)}\n`)
      }, limits),
  }),
]

async function watch(sql: Database): Promise<void> {
  const { stdout } = process
  const over = new AbortController()
  const end = (): void => over.abort()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.once(signal, end)
  surviveLostConnections(() => {})
  stdout.write(enter)
  try {
    await unlessAborted(drawOn(sql, over.signal), over.signal)
  } finally {
    stdout.write(leave)
    for (const signal of signals) process.off(signal, end)
  }
}

/** @throws the signal's reason, and whatever fails at the first look. */
async function drawOn(sql: Database, signal: AbortSignal): Promise<never> {
  const { stdout } = process
  let seen: Overview | null = null
  for (;;) {
    signal.throwIfAborted()
    const { overview, trouble } = await look(sql, seen, signal)
    seen = overview
    // A terminal that does not know its size says 0.
    const lines = [...trouble, ...drawOverview(overview, stdout.columns || undefined)]
    const shown = lines.slice(0, stdout.rows > 0 ? stdout.rows - 1 : undefined)
    const text = shown.map((line) => `${line}${escape}K\r\n`).join('')
    // A terminal that takes nothing is not filled.
    if (!stdout.write(`${escape}H${text}${escape}J`))
      await untilAborted(once(stdout, 'drain'), signal)
    await sleep(refreshMilliseconds, undefined, { signal }).catch(() => {})
  }
}

/** What was seen before stays while the database is away, under a line that says so. */
async function look(
  sql: Database,
  seen: Overview | null,
  signal: AbortSignal,
): Promise<{ overview: Overview; trouble: readonly string[] }> {
  try {
    return { overview: await untilAborted(readOverview(sql), signal), trouble: [] }
  } catch (error) {
    if (seen === null || !isUnavailable(error)) throw error
    const message = makeVisible((error as Error).message)
    return {
      overview: seen,
      trouble: [
        `OLD       as of ${seen.at}: ${message}`.slice(0, process.stdout.columns || undefined),
      ],
    }
  }
}
