// `top`: the whole service in a terminal, over ssh. It reads the database, as `workers` does: it needs no key, and works when no
// web process does.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { readOverview } from '#operator'
import type { Database } from '#database'
import { defineCommand } from './command.ts'
import { withDatabase } from './connect.ts'
import { drawOverview } from './top.ts'

const refreshMilliseconds = 1000
const escape = '\u001B['
/** A screen of its own, so that what was there before comes back; no cursor. */
const enter = `${escape}?1049h${escape}?25l`
const leave = `${escape}?25h${escape}?1049l`

export const topCommands = [
  defineCommand({
    name: 'top',
    operands: [],
    summary: 'watch the service: what waits, runs and ends, workers, accounts, the ledger',
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
        for (const line of lines) stdout.write(`${line}\n`)
      }),
  }),
]

async function watch(sql: Database): Promise<void> {
  const { stdout } = process
  const over = new AbortController()
  const end = (): void => over.abort()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.once(signal, end)
  stdout.write(enter)
  try {
    while (!over.signal.aborted) {
      // A terminal that does not know its size says 0.
      const lines = drawOverview(await readOverview(sql), stdout.columns || undefined)
      const shown = lines.slice(0, stdout.rows > 0 ? stdout.rows - 1 : undefined)
      const text = shown.map((line) => `${line}${escape}K\r\n`).join('')
      // A terminal that takes nothing is not filled.
      if (!stdout.write(`${escape}H${text}${escape}J`)) await once(stdout, 'drain')
      await sleep(refreshMilliseconds, undefined, { signal: over.signal }).catch(() => {})
    }
  } finally {
    stdout.write(leave)
    for (const signal of signals) process.off(signal, end)
  }
}
