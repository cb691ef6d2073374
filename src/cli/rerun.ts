// The command `rerun`: a campaign that repeats many submissions, each once and a few at a time, through the operator API. The
// service records what was repeated, so a killed campaign continues when it is called again, and two calls share the work.
import { setTimeout as sleep } from 'node:timers/promises'
import type { BulkRequest, BulkSum, Operator, RerunPage } from '#client'
import { verdicts } from '#event'
import { findLanguage, languages } from '#language'
import { campaignNameMost } from '#operator'
import { defineCommand, exitStatuses, flag, misuse, takes } from './command.ts'
import { readNumber, readTime, readWord } from './option.ts'
import { createProgress, printRecord, printRows } from './output.ts'
import type { Row } from './output.ts'
import { askOperator, listOptions, rephrase } from './service.ts'

/** The request of a campaign, which repeats submissions that have ended and are no reruns. */
export type Campaign = BulkRequest & { readonly action: 'rerun'; readonly campaign: string }

/** The results of a campaign: `count` and `skipped` of this call, the other fields of the whole campaign. */
export interface CampaignReport extends Pick<BulkSum, 'count' | 'skipped'> {
  readonly repeated: number
  readonly cancelled: number
  /** Compared outputs of the submissions without an expected output. */
  readonly outputs: RerunPage['outputs']
  /** Submissions whose verdict or output differs, in the order of the originals. */
  readonly changes: readonly Row[]
}

const pollMilliseconds = 200

export const rerunCommands = [
  defineCommand({
    name: 'rerun',
    summary: 'rerun many submissions on today’s toolchain, and print what changed',
    notes:
      'Reruns each submission that has ended, except cancelled ones and reruns, once per campaign NAME; called again after an\n' +
      'interruption, it continues. A rerun belongs to the account of the original, counts against none of its keys, and sends no webhook. The\n' +
      'command waits while half of QUEUE_CAPACITY is in use. It prints each submission whose verdict differs, or, without an expected output,\n' +
      'whose stdout or exit status differs (`output`), then counts. `audit.rerun` keeps the results. Exit status: 0 nothing differs,\n' +
      '1 something differs, 69 the service is unreachable.',
    options: {
      since: takes('TIME', 'received at or after, such as 2030-01-31 or 2030-01-31T12:00:00Z', {
        required: true,
      }),
      until: takes('TIME', 'received before (default now)'),
      language: takes('LANGUAGE', 'only this language'),
      verdict: takes('VERDICT', verdicts.join(', ')),
      tag: takes('TEXT', 'only this tag'),
      account: takes('NAME', 'only this account'),
      name: takes('NAME', 'name of the campaign (default: from the options above)'),
      'at-once': takes('N', 'most reruns at once', { default: '4' }),
      'dry-run': flag('only count the submissions'),
      ...listOptions,
    },
    run: ({ values }) => {
      const { account, tag, 'dry-run': isDry, 'at-once': atOnce, json } = values
      const chosen = {
        since: readTime('rerun: --since', values.since),
        ...(values.until !== undefined && { until: readTime('rerun: --until', values.until) }),
        ...(values.language !== undefined && { language: readLanguage(values.language) }),
        ...(values.verdict !== undefined && {
          verdict: readWord('rerun: --verdict', values.verdict, verdicts),
        }),
        ...(tag !== undefined && { tag }),
        ...(account !== undefined && { account }),
      }
      const name = readName(values.name) ?? nameCampaign(chosen)
      const campaign = {
        action: 'rerun',
        campaign: name,
        at_once: readNumber('rerun: --at-once', atOnce, 99_999),
        filter: { until: new Date().toISOString(), ...chosen },
      } as const
      return askOperator(values, async (operator) => {
        if (account !== undefined)
          await operator
            .reruns({ campaign: name, account })
            .catch(rephrase({ 404: 'there is no account of this name' }))
        if (!isDry) return repeat(operator, campaign, json)
        const { count: due, skipped } = await operator.count(campaign)
        printRecord({ campaign: name, due, ...skipped }, process)
        return 0
      })
    },
  }),
]

async function repeat(operator: Operator, campaign: Campaign, json: boolean): Promise<number> {
  const progress = createProgress(process)
  const report = await runCampaign(operator, campaign, (sum) => progress(`${sum} repeated`))
  progress('')
  const { count, skipped, repeated, cancelled, outputs, changes } = report
  if (changes.length > 0) printRows(changes, process, json)
  const { same, differs, not_known: unknown } = outputs
  const compared = { outputs_same: same, outputs_differ: differs, outputs_not_known: unknown }
  const sums = { received: count, ...skipped, repeated, cancelled, changed: changes.length }
  printRecord({ campaign: campaign.campaign, ...sums, ...compared }, process)
  return changes.length === 0 ? 0 : exitStatuses.failed
}

/**
 * Repeats the submissions of a campaign, and resolves when all reruns have ended.
 * @param onProgress called now and then with the number of submissions that this call has repeated.
 */
export async function runCampaign(
  operator: Operator,
  campaign: Campaign,
  onProgress: (repeated: number) => void = () => {},
): Promise<CampaignReport> {
  const onStep = (soFar: BulkSum): void => onProgress(soFar.count)
  const { count, skipped } = await operator.act(campaign, { onStep })
  const changes: Row[] = []
  let [repeated, cancelled] = [0, 0]
  const outputs = { same: 0, differs: 0, not_known: 0 }
  for (let after: string | null = null; ;) {
    const page = await operator.reruns({ campaign: campaign.campaign, after })
    if (page.unfinished > 0) {
      onProgress(count)
      await sleep(pollMilliseconds)
      continue
    }
    repeated += page.repeated
    cancelled += page.cancelled
    for (const word of ['same', 'differs', 'not_known'] as const)
      outputs[word] += page.outputs[word]
    changes.push(...page.changes)
    if (page.next === null) return { count, skipped, repeated, cancelled, outputs, changes }
    after = page.next
  }
}

/** Derives a campaign's name from its options, so that the same command line continues the same campaign. */
function nameCampaign(chosen: Readonly<Record<string, string>>): string {
  return Object.entries(chosen)
    .map(([option, value]) => `${option}=${value}`)
    .join(' ')
}

function readName(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  if (text === '' || text.length > campaignNameMost)
    throw misuse(`rerun: --name must have 1 to ${campaignNameMost} characters`)
  return text
}

function readLanguage(text: string): string {
  const language = findLanguage(text)
  if (language === undefined)
    throw misuse(`rerun: --language must be one of ${languages.join(', ')}`)
  return language
}
