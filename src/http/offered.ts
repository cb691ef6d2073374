// Which languages can be submitted: those that a worker offers, or did within the last day, and what of them no such worker can
// do. What nobody runs is refused at once; what workers run that are away for a while waits for them.
import type { Caller, TierLimits } from '#account'
import type { Database } from '#database'
import { listDemands } from '#enqueue'
import type { Submission } from '#enqueue'
import type { Issue } from '#error'
import type { Language } from '#language'
import { withDeadline } from './deadline.ts'
import type { Parsed } from './submission.ts'

const period = '24 hours'
// A worker that has come is known so soon, and so often is asked at most.
const staleMilliseconds = 1000
// What was offered is taken for so long without asking again: little beside the day.
const keptMilliseconds = 60_000

/** What a submission needs of a worker. */
export interface Needed {
  readonly language: Language
  /** Of a checker that is a program. */
  readonly checkerLanguage?: Language | undefined
  /** Abilities, as the log names them. */
  readonly demands?: readonly string[] | undefined
}

/** Says what of it is not taken, by fields of a request; nothing: it is. */
export type OfferedLanguages = (needed: Needed) => Promise<readonly Issue[]>

/** By language: what none of its workers can do. */
type Offered = ReadonlyMap<string, ReadonlySet<string>>

/** Asks the database when it has to: for what was not offered when it asked last, or when that is long ago. */
export function createOfferedLanguages(database: Database): OfferedLanguages {
  let offered: Offered = new Map()
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | null = null

  async function ask(): Promise<void> {
    const rows = await withDeadline(
      async () =>
        database<OfferedRow[]>`select name, lacks from runledger.list_recent_language(${period})`,
    )
    offered = intersectLacks(rows)
    askedAt = performance.now()
  }

  return async (needed) => {
    const age = performance.now() - askedAt
    const issues = [...judge(needed, offered)]
    if (issues.length === 0 && offered.size > 0 && age < keptMilliseconds) return issues
    if (age > staleMilliseconds) await (asking ??= ask().finally(() => (asking = null)))
    return [...judge(needed, offered)]
  }
}

interface OfferedRow {
  readonly name: string
  readonly lacks: readonly string[]
}

function intersectLacks(rows: readonly OfferedRow[]): Offered {
  const found = new Map<string, ReadonlySet<string>>()
  for (const { name, lacks } of rows) {
    const own = new Set(lacks)
    found.set(name, found.get(name)?.intersection(own) ?? own)
  }
  return found
}

function* judge(
  { language, checkerLanguage, demands = [] }: Needed,
  offered: Offered,
): Generator<Issue> {
  // Before its first worker a service takes what any could run.
  if (offered.size === 0) return
  const named = {
    language,
    ...(checkerLanguage !== undefined && { 'checker.language': checkerLanguage }),
  }
  for (const [path, name] of Object.entries(named)) {
    if (offered.has(name)) continue
    const message = `is offered by no worker, and was not within the last 24 hours; offered are ${[...offered.keys()].toSorted().join(', ')}`
    yield { path, message }
  }
  for (const demand of demands) {
    if (offered.get(language)?.has(demand) !== true) continue
    const message = `is offered for ${language} by no worker, and was not within the last 24 hours`
    yield { path: demand, message }
  }
}

/** Reads a submission, or tells all that is wrong with it. */
export type SubmissionParser = (
  input: unknown,
  caller: Pick<Caller, 'accountId' | 'limits'>,
) => Promise<Parsed<Submission>>

/** A parser that also refuses what is not offered. */
export function refuseAbsent(
  parse: (input: unknown, allowed: TierLimits) => Parsed<Submission>,
  offered: OfferedLanguages,
): SubmissionParser {
  return async (input, { limits }) => {
    const parsed = parse(input, limits)
    if (parsed.value === null) return parsed
    const { language, detail } = parsed.value
    const issues = await offered({
      language,
      checkerLanguage: detail.checker?.type === 'program' ? detail.checker.language : undefined,
      demands: listDemands(detail),
    })
    return issues.length === 0 ? parsed : { value: null, issues }
  }
}
