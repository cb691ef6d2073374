// The commands `audit …`, `rebuild` and `purge`.
import { readFileSync } from 'node:fs'
import { validate as isUuid } from 'uuid'
import { purgeBlobs } from '#blob'
import { readOrExit, readRetentionConfig } from '#config'
import type { Database } from '#database'
import { purgeBodies, rebuildProjections } from '#result'
import { receiptCommand } from './audit-receipt.ts'
import { auditHeads, listIds, tellLife, verifyLog } from './audit.ts'
import type { AuditAnswer } from './audit.ts'
import { CommandError, defineCommand, exitStatuses, misuse } from './command.ts'
import { withDatabase } from './connect.ts'
import { findId } from './id.ts'
import { printProgress, printRecord } from './output.ts'

/** Characters of an id; fewer are of many. */
const leastPart = 4

export const auditCommands = [
  defineCommand({
    name: 'audit',
    operands: ['ID'],
    summary: 'print the history of one submission, webhook, key or worker from the log',
    notes: `ID: whole, or ${leastPart} or more characters of its end or beginning, for which the whole log is looked through.`,
    options: {},
    run: ({ operands: [given = ''] }) =>
      answer(async (sql) => {
        const life = await tellLife(sql, isUuid(given) ? given : await completeId(sql, given))
        if (life === null) throw new CommandError('the log has nothing under this id')
        return life
      }),
  }),
  defineCommand({
    name: 'audit verify',
    operands: [],
    summary: 'check the whole log against its hashes',
    notes: 'Exit status 1 if an event, a table or a body is not what the log says.',
    options: {},
    run: () => answer((sql) => verifyLog(sql, (line) => printProgress(line, process))),
  }),
  defineCommand({
    name: 'audit heads',
    operands: [],
    summary: 'print digests of every stream’s end, to keep elsewhere',
    options: {
      compare: {
        type: 'string',
        value: 'FILE',
        help: 'compare the log with kept digests; exit status 1 if they differ',
      },
    },
    run: ({ values: { compare } }) =>
      answer((sql) => auditHeads(sql, compare === undefined ? null : readKept(compare))),
  }),
  receiptCommand,
  defineCommand({
    name: 'rebuild',
    operands: [],
    summary: 'rebuild results, pending submissions and deliveries from the log',
    options: {},
    run: () =>
      withDatabase(async (sql) => {
        const rebuilt = await rebuildProjections(sql, ({ submissions }) =>
          printProgress(`${submissions} submissions`, process),
        )
        printRecord({ ...rebuilt }, process)
      }),
  }),
  defineCommand({
    name: 'purge',
    operands: [],
    summary: 'remove old bodies and unused blobs, as the worker does',
    options: {
      days: {
        type: 'string',
        value: 'DAYS',
        help: 'remove what is older (default RETENTION_DAYS)',
      },
    },
    run: ({ values: { days } }) =>
      withDatabase(async (sql) => {
        const older = readDays(days)
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

function readDays(text: string | undefined): number {
  if (text === undefined) return readOrExit(readRetentionConfig).RETENTION_DAYS
  if (!/^[1-9]\d{0,4}$/.test(text))
    throw new CommandError('--days is a number from 1 to 99999', exitStatuses.usage)
  return Number(text)
}

function readKept(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new CommandError(`--compare: ${(error as Error).message}`, exitStatuses.noInput)
  }
}

async function completeId(sql: Database, part: string): Promise<string> {
  if (part.length < leastPart)
    throw misuse(`audit: ID is whole, or ${leastPart} or more characters of its end or beginning`)
  return findId(await listIds(sql, part), part, 'submission, webhook, key or worker')
}
