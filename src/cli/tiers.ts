// `tiers …`. Each change is an event of the tier's stream.
import { listTiers, setTier } from '#account'
import type { Tier, TierLimits } from '#account'
import { limitSpellings } from '#language'
import { defineCommand, misuse } from './command.ts'
import { withDatabase } from './connect.ts'
import { operator } from './operator.ts'
import { jsonOption, printRecord, printRows } from './output.ts'

const notes =
  'Requests: in any 60 seconds; one more is answered 429. Concurrent: submissions of a key that run at once; the others wait.'

export const tierCommands = [
  defineCommand({
    name: 'tiers list',
    operands: [],
    summary: 'list the tiers, and what a key of each may do',
    notes,
    options: { json: jsonOption },
    run: ({ values: { json } }) =>
      withDatabase(async (sql) => {
        const present = (limit: number | null): number | string | null =>
          limit === null && process.stdout.isTTY && !json ? 'unlimited' : limit
        const rows = (await listTiers(sql)).map((tier) => ({
          name: tier.name,
          requests_per_minute: present(tier.requestsPerMinute),
          concurrent_executions: present(tier.concurrentExecutions),
          blob_bytes: present(tier.blobBytes),
          limits: process.stdout.isTTY && !json ? describeLimits(tier.limits) : tier.limits,
          weight: tier.weight,
          total_seconds: tier.totalSeconds,
          output_bytes: present(tier.outputBytes),
          cores: tier.cores,
          keys: tier.keys,
        }))
        printRows(rows, process, json)
      }),
  }),
  defineCommand({
    name: 'tiers set',
    operands: ['NAME'],
    summary: 'create a tier, or change one for all its keys',
    notes: `${notes} A new tier needs both; of one that there is, what is left out stays.`,
    options: {
      requests: { type: 'string', value: 'N', help: 'a minute, or `unlimited`' },
      concurrent: { type: 'string', value: 'N', help: 'at once, or `unlimited`' },
      'blob-bytes': {
        type: 'string',
        value: 'N',
        help: 'bytes of blobs per account, or `unlimited`; unchanged if left out',
      },
      limits: {
        type: 'string',
        value: 'LIST',
        help: 'the most that a submission may ask for, such as `cpu_time=60,memory=1073741824`',
      },
      weight: {
        type: 'string',
        value: 'N',
        help: 'weight of an account’s share of the slots, 1 to 1000; 1 at first',
      },
      'total-seconds': {
        type: 'string',
        value: 'N',
        help: 'what a submission may run in all, 1 to 86400; 600 at first',
      },
      'output-bytes': {
        type: 'string',
        value: 'N',
        help: 'what is kept of an account’s outputs in a day, or `unlimited`; as it is unless given',
      },
      cores: {
        type: 'string',
        value: 'N',
        help: 'that a program may use at once, or `share`: its slot’s share of them, as at first',
      },
    },
    run: ({
      operands: [name = ''],
      values: { requests, concurrent, limits, weight, cores, ...more },
    }) =>
      withDatabase(async (sql) => {
        if (!/^[a-z][a-z0-9_-]{0,49}$/.test(name)) {
          throw misuse('NAME is up to 50 of a-z, 0-9, - and _, the first a letter')
        }
        const present = (await listTiers(sql)).find((one) => one.name === name)
        const blobBytes = more['blob-bytes']
        const totalSeconds = more['total-seconds']
        const outputBytes = more['output-bytes']
        const tier = {
          name,
          requestsPerMinute: readOr(present?.requestsPerMinute, '--requests', requests),
          concurrentExecutions: readOr(present?.concurrentExecutions, '--concurrent', concurrent),
          limits: readLimits(limits ?? ''),
          ...(blobBytes !== undefined && {
            blobBytes: readLimit('--blob-bytes', blobBytes, 999_999_999_999_999),
          }),
          ...(cores !== undefined && {
            cores: cores === 'share' ? null : readNumber('--cores', cores, 1024),
          }),
          ...(weight !== undefined && { weight: readNumber('--weight', weight, 1000) }),
          ...(totalSeconds !== undefined && {
            totalSeconds: readNumber('--total-seconds', totalSeconds, 86_400),
          }),
          ...(outputBytes !== undefined && {
            outputBytes: readLimit('--output-bytes', outputBytes, 999_999_999_999_999),
          }),
        }
        await setTier(sql, tier, operator())
        printRecord(
          {
            name,
            requests_per_minute: tier.requestsPerMinute,
            concurrent_executions: tier.concurrentExecutions,
            ...(tier.blobBytes !== undefined && { blob_bytes: tier.blobBytes }),
            ...(tier.weight !== undefined && { weight: tier.weight }),
            ...(tier.totalSeconds !== undefined && { total_seconds: tier.totalSeconds }),
            ...(tier.outputBytes !== undefined && { output_bytes: tier.outputBytes }),
            ...(tier.cores !== undefined && { cores: tier.cores }),
          },
          process,
        )
      }),
  }),
]

/** Such as `beta (60 requests a minute, 10 executions at once)`. */
export function describeTier({ name, requestsPerMinute, concurrentExecutions }: Tier): string {
  const limits = [
    requestsPerMinute === null ? null : `${requestsPerMinute} requests a minute`,
    concurrentExecutions === null ? null : `${concurrentExecutions} executions at once`,
  ].filter((text) => text !== null)
  return `${name} (${limits.length === 0 ? 'no limits' : limits.join(', ')})`
}

function describeLimits(limits: TierLimits): string {
  return Object.entries(limits)
    .map(([name, most]) => `${name}=${most}`)
    .join(',')
}

/** Left out: as they are. */
function readLimits(list: string): TierLimits {
  const names = Object.values(limitSpellings)
  const entries = list.split(',').filter((entry) => entry !== '')
  return Object.fromEntries(
    entries.map((entry) => {
      const [name = '', most = ''] = entry.split('=', 2)
      if (!names.some((known) => known === name) || !/^[1-9]\d{0,14}$/.test(most))
        throw misuse(`--limits is a list of NAME=NUMBER, of ${names.join(', ')}`)
      return [name, Number(most)]
    }),
  )
}

/** @param present what stays when nothing is said; undefined: a new tier. */
function readOr(
  present: number | null | undefined,
  option: string,
  text: string | undefined,
): number | null {
  if (text !== undefined) return readLimit(option, text)
  if (present === undefined) throw misuse(`there is no such tier: a new one needs ${option}`)
  return present
}

function readLimit(option: string, text: string, most = 999_999_999): number | null {
  if (text === 'unlimited') return null
  const number = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : Number.NaN
  if (!(number <= most)) throw misuse(`${option} is a number from 1 to ${most}, or \`unlimited\``)
  return number
}

function readNumber(option: string, text: string, most: number): number {
  const number = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : Number.NaN
  if (!(number <= most)) throw misuse(`${option} is a number from 1 to ${most}`)
  return number
}
