// `audit streams` prints each stream's last event, as a list to keep elsewhere. `audit compare FILE` prints what the log lacks
// of such a list, for example after a restore to an earlier moment.
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { findLacks, listStreamHeads, parseStreamHead } from '#event'
import type { StreamHead } from '#event'
import { CommandError, defineCommand, exitStatuses, takes } from './command.ts'
import { withDatabase } from './connect.ts'
import { readTime } from './option.ts'
import { printJson } from './output.ts'

const linesAtOnce = 1000

export const streamCommands = [
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
]

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
