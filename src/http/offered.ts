// Decides which languages a submission may ask for: those that a worker offers, or offered within the last day. Other
// submissions are refused at once. A submission for workers that are away for a while waits for them.
import { cachedRead } from '#database'
import type { Database } from '#database'
import type { Issue } from '#error'
import { languages } from '#language'
import type { Language } from '#language'
import { unknownLanguage } from '#options'
import { withDeadline } from './problem.ts'

const period = '24 hours'
// A new worker's offer is known after this time, and the database is asked at most this often.
const staleMilliseconds = 1000
// A known offer is trusted this long without asking again; that is short compared with a day.
const keptMilliseconds = 60_000

/** The languages that a submission needs of a worker. */
interface Needed {
  /** Undefined when the request names no known language. */
  readonly language: Language | undefined
  /** The language of a checker that is a program. */
  readonly checkerLanguage?: Language | undefined
  /** The language of an interactor, in a submission without a checker. */
  readonly interactorLanguage?: Language | undefined
}

export interface OfferedLanguages {
  /** Returns an issue for each field that no worker can serve; empty when a worker can take the submission. */
  judge(needed: Needed): Promise<readonly Issue[]>
  /** True when a version that workers offer now will do; when none offers the language now, a version offered lately. */
  hasVersion(language: Language, willDo: (runtime: string) => boolean): Promise<boolean>
  /** Returns the issues; those about unknown language names also list the offered languages. */
  explain(issues: readonly Issue[]): readonly Issue[]
}

const listing = '; offered are '

/** Returns a function that keeps only the first list of offered languages in all issues that it gets. @param isListed true: none. */
export function createListOnce(isListed = false): (issues: readonly Issue[]) => readonly Issue[] {
  let listed = isListed
  return (issues) =>
    issues.map((issue) => {
      const [short = '', list] = issue.message.split(listing)
      if (list === undefined) return issue
      const named = listed ? { ...issue, message: short } : issue
      listed = true
      return named
    })
}

/** What a worker offers, by language name. */
type Offer = ReadonlyMap<string, OfferedRow>

/** Keeps the offers, and asks the database when a language was not offered at the last look or that look is old. */
export function createOfferedLanguages(database: Database): OfferedLanguages {
  let offers: readonly Offer[] = []
  let askedAt = Number.NEGATIVE_INFINITY

  const ask = cachedRead(async () => {
    const rows = await withDeadline(
      async () =>
        database<OfferedRow[]>`
          select name, version, offer, is_offered_now from runledger.list_recent_language(${period})`,
    )
    const groups = Map.groupBy(rows, ({ offer }) => offer).values()
    offers = Array.from(groups, (group) => new Map(group.map((row) => [row.name, row])))
    askedAt = performance.now()
  }, staleMilliseconds)

  /** Returns what `read` makes of the offers, and asks for new offers first when the cached ones are old or not good. */
  async function readGood<T>(read: () => T, isGood: (value: T) => boolean): Promise<T> {
    const isKept = performance.now() - askedAt < keptMilliseconds
    const value = read()
    if (isGood(value) && offers.length > 0 && isKept) return value
    await ask()
    return read()
  }

  return {
    judge: (needed) =>
      readGood(
        () => [...judge(needed, offers)],
        (issues) => issues.length === 0,
      ),
    hasVersion: (language, willDo) =>
      readGood(
        () => {
          const rows = offers.flatMap((offer) => offer.get(language) ?? [])
          const now = rows.filter((row) => row.is_offered_now)
          return (now.length > 0 ? now : rows).some(({ version }) => willDo(version))
        },
        (has) => has,
      ),
    explain: (issues) =>
      issues.map(({ path, message }) => ({
        path,
        message: message.startsWith(unknownLanguage)
          ? `${message}${listing}${nameOffered(offers)}`
          : message,
      })),
  }
}

/** Names the offered languages; when no worker offered any within the last day, every language that a worker could run. */
function nameOffered(offers: readonly Offer[]): string {
  if (offers.length === 0) return languages.join(', ')
  return [...new Set(offers.flatMap((offer) => [...offer.keys()]))].toSorted().join(', ')
}

interface OfferedRow {
  readonly name: string
  readonly version: string
  /** Equal for all languages of one worker's offer. */
  readonly offer: number
  readonly is_offered_now: boolean
}

function* judge(
  { language, checkerLanguage, interactorLanguage }: Needed,
  offers: readonly Offer[],
): Generator<Issue> {
  // When no worker offered a language within the last day, such as before the first start, every submission is accepted.
  if (offers.length === 0) return
  const never = 'and was not within the last 24 hours'
  const judging = checkerLanguage ?? interactorLanguage
  const path = checkerLanguage === undefined ? 'interactor.language' : 'checker.language'
  const absent = Object.entries({ language, [path]: judging }).filter(
    ([, name]) => name !== undefined && !offers.some((offer) => offer.has(name)),
  )
  for (const [at] of absent) {
    yield { path: at, message: `is offered by no worker, ${never}${listing}${nameOffered(offers)}` }
  }
  if (language === undefined || judging === undefined || absent.length > 0) return
  // One worker compiles and runs both the program and its checker or interactor.
  if (!offers.some((offer) => offer.has(language) && offer.has(judging)))
    yield { path, message: `is offered by no worker that offers ${language} too, ${never}` }
}
