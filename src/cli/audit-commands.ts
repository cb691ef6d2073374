// The commands `audit …`, `rebuild` and `purge`.
import { purgeBlobs } from '#blob'
import { readOrExit, readRetentionConfig } from '#config'
import type { Database } from '#database'
import { isUuid } from '#id'
import { purgeBodies, rebuildProjections } from '#result'
import { receiptCommand } from './audit-receipt.ts'
import { streamCommands } from './audit-streams.ts'
import { auditHeads, listIds, printLife, verifyLog } from './audit.ts'
import type { AuditAnswer } from './audit.ts'
import { CommandError, defineCommand, exitStatuses, misuse, takes } from './command.ts'
import { withDatabase } from './connect.ts'
import { findId, readInput, readNumber } from './option.ts'
import { printProgress, printRecord } from './output.ts'

/** The least characters of a part of an id: a shorter part fits many ids. */
const leastPart = 4

export const auditCommands = [
  defineCommand({
    name: 'audit',
    operands: ['ID'],
    summary: 'print the history of one submission, webhook, key or worker from the log',
    notes: `ID: a whole id, or at least ${leastPart} characters of its end or beginning, for which the whole log is searched.`,
    run: ({ operands: [given = ''] }) =>
      answer(async (sql) => {
        const life = await printLife(sql, isUuid(given) ? given : await completeId(sql, given))
        if (life === null) throw new CommandError('the log has nothing under this id')
        return life
      }),
  }),
  defineCommand({
    name: 'audit verify',
    summary: 'check the whole log against its hashes',
    notes:
      'Exit status 1 if an event does not fit its hash, or a table or a body differs from the log.',
    run: () => answer((sql) => verifyLog(sql, (line) => printProgress(line, process))),
  }),
  defineCommand({
    name: 'audit heads',
    summary: 'print digests of the last events of all streams, to keep elsewhere',
    options: {
      compare: takes('FILE', 'compare the log with kept digests; exit status 1 if they differ'),
    },
    run: ({ values: { compare } }) =>
      answer((sql) =>
        auditHeads(sql, compare === undefined ? null : readInput('--compare', compare).trim()),
      ),
  }),
  ...streamCommands,
  receiptCommand,
  defineCommand({
    name: 'rebuild',
    summary: 'rebuild results, pending submissions and deliveries from the log',
    run: () =>
      withDatabase(async (sql) => {
        const rebuilt = await rebuildProjections(sql, ({ submissions }) =>
          printProgress(`${submissions} submissions`, process),
        )
        printRecord(rebuilt, process)
      }),
  }),
  defineCommand({
    name: 'purge',
    summary: 'remove old bodies and unused blobs, as the worker does',
    options: {
      days: takes('DAYS', 'remove bodies and blobs older than this (default RETENTION_DAYS)'),
    },
    run: ({ values: { days } }) =>
      withDatabase(async (sql) => {
        const older =
          days === undefined
            ? readOrExit(readRetentionConfig).RETENTION_DAYS
            : readNumber('--days', days, 99_999)
        const purged = await purgeBodies(sql, older, (submissions) =>
          printProgress(`${submissions} submissions`, process),
        )
        printRecord({ ...purged, blobs: await purgeBlobs(sql, older) }, process)
      }),
  }),
]

async function answer(ask: (sql: Database) => Promise<AuditAnswer>): Promise<number> {
  const { lines, ok } = await withDatabase(ask)
  for (const line of lines) process.stdout.write(`${line}\n`)
  return ok ? 0 : exitStatuses.failed
}

async function completeId(sql: Database, part: string): Promise<string> {
  if (part.length < leastPart)
    throw misuse(
      `audit: ID must be a whole id, or at least ${leastPart} characters of its end or beginning`,
    )
  const rows = (await listIds(sql, part)).map((id) => ({ id }))
  return findId(rows, part, 'submission, webhook, key or worker')
}
