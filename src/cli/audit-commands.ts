// The commands `audit …`, `rebuild` and `purge`. `audit streams` prints each stream's last event, as a list to keep elsewhere.
// `audit compare` prints what the log lacks of such a list, for example after a restore to an earlier moment.
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { purgeBlobs } from '#blob'
import { readOrExit, readRetentionConfig } from '#config'
import type { Database } from '#database'
import { findLacks, listStreamHeads, parseStreamHead } from '#event'
import type { StreamHead } from '#event'
import { isUuid } from '#id'
import { purgeBodies, rebuildProjections } from '#result'
import { receiptCommand } from './audit-receipt.ts'
import { auditHeads, listIds, printLife, verifyLog } from './audit.ts'
import type { AuditAnswer } from './audit.ts'
import { CommandError, defineCommand, exitStatuses, misuse, takes } from './command.ts'
import { withDatabase } from './connect.ts'
import { findId, readInput, readNumber, readTime } from './option.ts'
import { createProgress, printJson, printRecord } from './output.ts'

/** The least characters of a part of an id: a shorter part fits many ids. */
const leastPart = 4
const linesAtOnce = 1000

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
    run: () => answer((sql) => verifyLog(sql, createProgress(process))),
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
  defineCommand({
    name: 'audit streams',
    summary: 'print the last event of each stream as a line of JSON, to keep elsewhere',
    options: {
      since: takes('TIME', 'only streams with an event since then, such as 2030-01-31T12:00:00Z'),
    },
    run: ({ values: { since } }) =>
      withDatabase(async (sql) => {
        const from = since === undefined ? null : new Date(readTime('audit streams: --since', since)) // prettier-ignore
        for await (const heads of listStreamHeads(sql, from)) {
          const text = heads.map((head) => `${JSON.stringify(head)}\n`).join('')
          if (!process.stdout.write(text)) await once(process.stdout, 'drain')
        }
      }),
  }),
  defineCommand({
    name: 'audit compare',
    operands: ['FILE'],
    summary: 'print what the log lacks of a list of streams, for example after a restore',
    notes:
      'FILE: lines of JSON as `audit streams` prints them; in a caller’s own list, `id` is enough. Exit status 1 if something is missing.',
    run: ({ operands: [file = ''] }) =>
      withDatabase(async (sql) => {
        const sum = { streams: 0, lost: 0, older: 0, other: 0 }
        for await (const heads of readHeads(file)) {
          sum.streams += heads.length
          for (const lack of await findLacks(sql, heads)) {
            sum[lack.finding] += 1
            printJson(lack, process)
          }
        }
        process.stderr.write(
          `Of ${sum.streams} streams, ${sum.lost} are lost, ${sum.older} end earlier, ${sum.other} continue differently.\n`,
        )
        return sum.lost + sum.older + sum.other === 0 ? 0 : exitStatuses.failed
      }),
  }),
  receiptCommand,
  defineCommand({
    name: 'rebuild',
    summary: 'rebuild results, pending submissions and deliveries from the log',
    run: () =>
      withDatabase(async (sql) => {
        const progress = createProgress(process)
        const rebuilt = await rebuildProjections(sql, ({ submissions }) =>
          progress(`${submissions} submissions`),
        )
        progress('')
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
        const progress = createProgress(process)
        const purged = await purgeBodies(sql, older, (submissions) =>
          progress(`${submissions} submissions`),
        )
        progress('')
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

/**
 * Reads a list of streams in groups of at most `linesAtOnce`.
 * @throws {CommandError} for a file that cannot be read or a line without an id.
 */
async function* readHeads(file: string): AsyncGenerator<StreamHead[]> {
  let [number, heads] = [0, [] as StreamHead[]]
  try {
    for await (const line of createInterface({ input: createReadStream(file) })) {
      number += 1
      if (line.trim() === '') continue
      const head = parseStreamHead(line)
      if (head === null)
        throw new CommandError(`FILE: line ${number} is not a JSON object with a stream's id`, exitStatuses.refused) // prettier-ignore
      if (heads.push(head) < linesAtOnce) continue
      yield heads
      heads = []
    }
  } catch (error) {
    if (error instanceof Error && 'syscall' in error)
      throw new CommandError(`FILE: ${error.message}`, exitStatuses.noInput)
    throw error
  }
  yield heads
}
