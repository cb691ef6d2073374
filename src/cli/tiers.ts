// The commands `tiers …`. Each change is an event of the tier's stream.
import { listTiers, setTier } from '#account'
import type { ListedTier, Tier, TierLimits } from '#account'
import { limitSpellings } from '#language'
import { defineCommand, misuse, takes } from './command.ts'
import { operator, withDatabase } from './connect.ts'
import { readNumber } from './option.ts'
import { jsonOption, printRecord, printRows } from './output.ts'

const notes =
  'Requests: the most in any 60 seconds; further ones are answered 429. Concurrent: the most submissions of a key that run at once; the\nothers wait.'

type Setting = Exclude<keyof Tier, 'name' | 'limits'>

const mostBytes = 999_999_999_999_999

interface Range {
  readonly most: number
  /** The word for null. */
  readonly none?: string
}

// prettier-ignore
const settings = {
  requests: { setting: 'requests_per_minute', most: 999_999_999, none: 'unlimited', help: 'requests a minute, or `unlimited`' },
  concurrent: { setting: 'concurrent_executions', most: 999_999_999, none: 'unlimited', help: 'executions at once, or `unlimited`' },
  'blob-bytes': { setting: 'blob_bytes', most: mostBytes, none: 'unlimited', help: 'bytes of blobs per account, or `unlimited`; a new tier has 268435456' },
  weight: { setting: 'weight', most: 1000, help: 'weight of an account’s share of the slots, 1 to 1000; a new tier has 1' },
  'total-seconds': { setting: 'total_seconds', most: 86_400, help: 'seconds that a submission may run in total, 1 to 86400; a new tier has 600' },
  'output-bytes': { setting: 'output_bytes', most: mostBytes, none: 'unlimited', help: 'bytes kept of an account’s outputs in a day, or `unlimited`; a new tier has `unlimited`' },
  cores: { setting: 'cores', most: 1024, none: 'share', help: 'cores that a program may use at once, or `share`: its slot’s share of the cores; a new tier has `share`' },
  'batch-items': { setting: 'batch_items', most: 1000, help: 'submissions of a batch, 1 to 1000; a new tier has 20' },
} as const satisfies Readonly<Record<string, Range & { readonly setting: Setting; readonly help: string }>>

type SettingOption = keyof typeof settings

const settingRows = Object.entries(settings) as [SettingOption, (typeof settings)[SettingOption]][]

export const tierCommands = [
  defineCommand({
    name: 'tiers list',
    summary: 'list the tiers and their limits',
    notes,
    options: { json: jsonOption },
    run: ({ values: { json } }) =>
      withDatabase(async (sql) => {
        const isForPeople = process.stdout.isTTY && !json
        const tiers = await listTiers(sql)
        printRows(tiers.map(isForPeople ? spellOut : (tier) => ({ ...tier })), process, json)
      }),
  }),
  defineCommand({
    name: 'tiers set',
    operands: ['NAME'],
    summary: 'create a tier, or change one for all its keys',
    notes: `${notes} A new tier needs both. Of an existing tier, only the given options change.`,
    options: {
      ...(Object.fromEntries(
        settingRows.map(([option, { help }]) => [option, takes('N', help)]),
      ) as Record<SettingOption, { type: 'string'; value: 'N'; help: string }>),
      limits: takes(
        'LIST',
        'the most that a submission may ask for, such as `cpu_time=60,memory=1073741824`',
      ),
    },
    run: ({ operands: [name = ''], values }) =>
      withDatabase(async (sql) => {
        if (!/^[a-z][a-z0-9_-]{0,49}$/.test(name)) {
          throw misuse('NAME must be up to 50 of a-z, 0-9, - and _, beginning with a letter')
        }
        const present = (await listTiers(sql)).find((one) => one.name === name)
        const given = settingRows.flatMap(([option, { setting, ...range }]) => {
          const text = values[option]
          return text === undefined ? [] : [[setting, readSetting(`--${option}`, text, range)]]
        })
        for (const option of ['requests', 'concurrent'] as const)
          if (present === undefined && values[option] === undefined)
            throw misuse(`there is no such tier: a new one needs --${option}`)
        const tier = {
          name,
          requests_per_minute: present?.requests_per_minute ?? null,
          concurrent_executions: present?.concurrent_executions ?? null,
          ...(Object.fromEntries(given) as Partial<Record<Setting, number>>),
        }
        await setTier(sql, { ...tier, limits: readLimits(values.limits ?? '') }, operator())
        printRecord(tier, process)
      }),
  }),
]

function spellOut(tier: ListedTier): Readonly<Record<string, unknown>> {
  const words = settingRows.flatMap(([, { setting, ...range }]) =>
    tier[setting] === null && 'none' in range ? [[setting, range.none]] : [],
  )
  return { ...tier, ...Object.fromEntries(words), limits: describeLimits(tier.limits) }
}

/** Describes a tier, such as `beta (60 requests a minute, 10 executions at once)`. */
export function describeTier({
  name,
  requests_per_minute: requests,
  concurrent_executions: concurrent,
}: ListedTier): string {
  const limits = [
    requests === null ? null : `${requests} requests a minute`,
    concurrent === null ? null : `${concurrent} executions at once`,
  ].filter((text) => text !== null)
  return `${name} (${limits.length === 0 ? 'no limits' : limits.join(', ')})`
}

function describeLimits(limits: TierLimits): string {
  return Object.entries(limits)
    .map(([name, most]) => `${name}=${most}`)
    .join(',')
}

/** Reads a list of limits. A tier keeps the limits that the list does not name. */
function readLimits(list: string): TierLimits {
  const names = Object.values(limitSpellings)
  const entries = list.split(',').filter((entry) => entry !== '')
  return Object.fromEntries(
    entries.map((entry) => {
      const [name = '', text = ''] = entry.split('=', 2)
      if (!names.some((known) => known === name) || !/^[1-9]\d{0,14}$/.test(text))
        throw misuse(`--limits must be a list of NAME=NUMBER, with names of ${names.join(', ')}`)
      return [name, Number(text)]
    }),
  )
}

function readSetting(option: string, text: string, { most, none }: Range): number | null {
  if (text === none) return null
  return readNumber(option, text, most, none === undefined ? '' : `, or \`${none}\``)
}
