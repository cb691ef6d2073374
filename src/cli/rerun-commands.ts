// The command `rerun`; rerun.ts does the work.
import { readOrExit, readQueueConfig } from '#config'
import type { Database } from '#database'
import { verdicts } from '#event'
import { findLanguage, languages } from '#language'
import { campaignNameMost, capCampaign } from '#operator'
import { CommandError, defineCommand, exitStatuses } from './command.ts'
import { withDatabase } from './connect.ts'
import { operator } from './operator.ts'
import { printProgress, printRecord, printRows } from './output.ts'
import { countCampaign, runCampaign } from './rerun.ts'
import type { Selection } from './rerun.ts'

const progressMilliseconds = 5000

export const rerunCommands = [
  defineCommand({
    name: 'rerun',
    operands: [],
    summary: 'rerun many submissions on today’s toolchain, and print which verdicts changed',
    notes:
      'Reruns what has ended, except cancelled submissions and reruns, each once under a NAME: called again after an interruption it\n' +
      'continues. Reruns belong to their account, count against none of its keys, and send no webhook. It waits while half of\n' +
      'QUEUE_CAPACITY is in use. Prints each submission whose verdict differs, then counts; `audit.rerun` keeps them. Exit status: 0 no\n' +
      'verdict differs, 1 some do, 69 the database is away.',
    options: {
      since: {
        type: 'string',
        value: 'TIME',
        required: true,
        help: 'received at or after, such as 2030-01-31 or 2030-01-31T12:00:00Z',
      },
      until: { type: 'string', value: 'TIME', help: 'received before (default now)' },
      language: { type: 'string', value: 'LANGUAGE', help: 'only this language' },
      verdict: { type: 'string', value: 'VERDICT', help: verdicts.join(', ') },
      tag: { type: 'string', value: 'TEXT', help: 'only this tag' },
      account: { type: 'string', value: 'NAME', help: 'only this account' },
      name: {
        type: 'string',
        value: 'NAME',
        help: 'name of the campaign (default: from the options above)',
      },
      'at-once': { type: 'string', value: 'N', default: '4', help: 'at most so many at once' },
      'dry-run': { type: 'boolean', help: 'only count' },
      json: { type: 'boolean', help: 'JSON lines on a terminal too' },
    },
    run: ({ values }) => {
      const { account, tag, 'dry-run': isDry, 'at-once': atOnce, json } = values
      const chosen = {
        since: readTime('--since', values.since),
        until: values.until === undefined ? undefined : readTime('--until', values.until),
        language: readLanguage(values.language),
        verdict: readVerdict(values.verdict),
        tag,
        account,
      }
      const name = readName(values.name) ?? nameCampaign(chosen)
      const selection = { ...chosen, until: chosen.until ?? new Date() }
      const more = { atOnce: readCount('--at-once', atOnce), json }
      return withDatabase(async (sql) => {
        await requireAccount(sql, account)
        if (isDry) {
          const counts = await countCampaign(sql, { name, ...selection })
          printRecord({ campaign: name, ...counts }, process)
          return 0
        }
        return repeat(sql, name, selection, more)
      })
    },
  }),
]

async function repeat(
  sql: Database,
  name: string,
  selection: Selection,
  { atOnce, json }: { readonly atOnce: number; readonly json: boolean },
): Promise<number> {
  const { QUEUE_CAPACITY: most } = readOrExit(readQueueConfig)
  const campaign = { name, atOnce, capacity: capCampaign(most), operator: operator(), ...selection }
  const { counts, changes, ...sums } = await runCampaign(sql, campaign, createProgress())
  if (process.stderr.isTTY) printProgress('', process)
  if (changes.length > 0) printRows(changes, process, json)
  const { due, ...others } = counts
  const summary = { campaign: name, received: due, ...others, ...sums, changed: changes.length }
  printRecord(summary, process)
  return changes.length === 0 ? 0 : exitStatuses.failed
}

/** A script's log wants fewer lines than a terminal. */
function createProgress(): (repeated: number) => void {
  let toldAt = Number.NEGATIVE_INFINITY
  return (repeated) => {
    const now = performance.now()
    if (!process.stderr.isTTY && now - toldAt < progressMilliseconds) return
    toldAt = now
    printProgress(`${repeated} repeated`, process)
  }
}

/** The same for the same options, so that the same line goes on with the same campaign. */
function nameCampaign(chosen: Readonly<Record<string, Date | string | undefined>>): string {
  return Object.entries(chosen)
    .filter(([, value]) => value !== undefined)
    .map(([option, value]) => `${option}=${value instanceof Date ? value.toISOString() : value}`)
    .join(' ')
}

function readName(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  if (text === '' || text.length > campaignNameMost)
    throw misuse(`--name has 1 to ${campaignNameMost} characters`)
  return text
}

function readTime(option: string, text: string): Date {
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/.test(text)
  const time = new Date(isTime ? text : Number.NaN)
  if (Number.isNaN(time.getTime()))
    throw misuse(`${option} is a date such as 2030-01-31, or a time such as 2030-01-31T12:00:00Z`)
  return time
}

function readLanguage(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const language = findLanguage(text)
  if (language === undefined) throw misuse(`--language is one of ${languages.join(', ')}`)
  return language
}

function readVerdict(text: string | undefined): string | undefined {
  if (text !== undefined && !verdicts.some((verdict) => verdict === text))
    throw misuse(`--verdict is one of ${verdicts.join(', ')}`)
  return text
}

function readCount(option: string, text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw misuse(`${option} is a number from 1 to 99999`)
  return Number(text)
}

async function requireAccount(sql: Database, name: string | undefined): Promise<void> {
  if (name === undefined) return
  const found = await sql`select from runledger.account where name = ${name}`
  if (found.length === 0) throw new CommandError('there is no account of this name')
}

function misuse(what: string): CommandError {
  return new CommandError(`rerun: ${what}`, exitStatuses.usage)
}
