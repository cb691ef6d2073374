// Which languages can be submitted: those that a worker offers, or did within the last day. One that nobody runs is refused at
// once; one whose workers are away for a while waits for them.
import type { Caller, TierLimits } from '#account'
import type { Database } from '#database'
import type { Submission } from '#enqueue'
import type { Issue } from '#error'
import type { Language } from '#language'
import { withDeadline } from './deadline.ts'
import type { Parsed } from './submission.ts'

const period = '24 hours'
// A worker that has come is known so soon, and so often is asked at most.
const staleMilliseconds = 1000
// A language that was offered is taken for so long without asking again: little beside the day.
const keptMilliseconds = 60_000

/** Says why a submission in this language is not taken; null: it is. */
export type OfferedLanguages = (language: Language) => Promise<string | null>

/** Asks the database when it has to: for a language that was not offered when it asked last, or when that is long ago. */
export function createOfferedLanguages(database: Database): OfferedLanguages {
  let offered: ReadonlySet<string> = new Set()
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | null = null

  async function ask(): Promise<void> {
    const rows = await withDeadline(
      async () =>
        database<{ name: string }[]>`select name from runledger.list_recent_language(${period})`,
    )
    offered = new Set(rows.map(({ name }) => name))
    askedAt = performance.now()
  }

  return async (language) => {
    const age = performance.now() - askedAt
    if (offered.has(language) && age < keptMilliseconds) return null
    if (age > staleMilliseconds) await (asking ??= ask().finally(() => (asking = null)))
    // Before its first worker a service takes what any could run.
    if (offered.size === 0 || offered.has(language)) return null
    return `is offered by no worker, and was not within the last 24 hours; offered are ${[...offered].toSorted().join(', ')}`
  }
}

/** Reads a submission, or tells all that is wrong with it. */
export type SubmissionParser = (
  input: unknown,
  caller: Pick<Caller, 'accountId' | 'limits'>,
) => Promise<Parsed<Submission>>

/** A parser that also refuses languages that are not offered. */
export function refuseAbsent(
  parse: (input: unknown, allowed: TierLimits) => Parsed<Submission>,
  offered: OfferedLanguages,
): SubmissionParser {
  return async (input, { limits }) => {
    const parsed = parse(input, limits)
    if (parsed.value === null) return parsed
    const { language, detail } = parsed.value
    const named = {
      language,
      ...(detail.checker?.type === 'program' && { 'checker.language': detail.checker.language }),
    }
    const issues: Issue[] = []
    for (const [path, name] of Object.entries(named)) {
      const message = await offered(name)
      if (message !== null) issues.push({ path, message })
    }
    return issues.length === 0 ? parsed : { value: null, issues }
  }
}
