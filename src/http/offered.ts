// Which languages can be submitted: those that a worker offers, or did within the last day, and what of them no such worker can
// do. What nobody runs is refused at once; what workers run that are away for a while waits for them.
import type { Database } from '#database'
import type { Issue } from '#error'
import { languages } from '#language'
import type { Language } from '#language'
import { unknownLanguage } from '#options'
import { withDeadline } from './deadline.ts'

const period = '24 hours'
// A worker that has come is known so soon, and so often is asked at most.
const staleMilliseconds = 1000
// What was offered is taken for so long without asking again: little beside the day.
const keptMilliseconds = 60_000

/** What a submission needs of a worker. */
interface Needed {
  /** undefined: not known. */
  readonly language: Language | undefined
  /** Of a checker that is a program. */
  readonly checkerLanguage?: Language | undefined
  /** Of a submission that has no checker. */
  readonly interactorLanguage?: Language | undefined
  /** Capabilities. */
  readonly requires?: readonly string[] | undefined
}

export interface OfferedLanguages {
  /** What of it is not taken, by fields of a request; nothing: it is. */
  judge(needed: Needed): Promise<readonly Issue[]>
  /** True when a version that workers have now will do; of a language that none has now, one that they had. */
  hasVersion(language: Language, willDo: (runtime: string) => boolean): Promise<boolean>
  /** The same mistakes; those of names that no language has say what is offered. */
  explain(issues: readonly Issue[]): readonly Issue[]
}

const listing = '; offered are '

/** What is offered is said once, however many mistakes say it. */
export function listOnce(issues: readonly Issue[], isListed = false): readonly Issue[] {
  let listed = isListed
  return issues.map((issue) => {
    const [short = '', list] = issue.message.split(listing)
    if (list === undefined) return issue
    const named = listed ? { ...issue, message: short } : issue
    listed = true
    return named
  })
}

/** True when one of them says what is offered. */
export function lists(issues: readonly Issue[]): boolean {
  return issues.some(({ message }) => message.includes(listing))
}

/** What a worker offers, by language. */
type Offer = ReadonlyMap<string, OfferedRow>

/** Asks the database when it has to: for what was not offered when it asked last, or when that is long ago. */
export function createOfferedLanguages(database: Database): OfferedLanguages {
  let offers: readonly Offer[] = []
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | null = null

  async function ask(): Promise<void> {
    const rows = await withDeadline(
      async () =>
        database<OfferedRow[]>`
          select name, version, lacks, offer, is_offered_now from runledger.list_recent_language(${period})`,
    )
    offers = groupByOffer(rows)
    askedAt = performance.now()
  }

  /** What `read` makes of them, which is good or asked for anew. */
  async function readGood<T>(read: () => T, isGood: (value: T) => boolean): Promise<T> {
    const age = performance.now() - askedAt
    const value = read()
    if (isGood(value) && offers.length > 0 && age < keptMilliseconds) return value
    if (age > staleMilliseconds) await (asking ??= ask().finally(() => (asking = null)))
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

/** Before its first worker a service takes all that any could run. */
function nameOffered(offers: readonly Offer[]): string {
  if (offers.length === 0) return languages.join(', ')
  return [...new Set(offers.flatMap((offer) => [...offer.keys()]))].toSorted().join(', ')
}

interface OfferedRow {
  readonly name: string
  readonly version: string
  /** What it cannot do of what submissions require. */
  readonly lacks: readonly string[]
  /** The same for what one worker offers. */
  readonly offer: number
  readonly is_offered_now: boolean
}

function groupByOffer(rows: readonly OfferedRow[]): Offer[] {
  const groups = Map.groupBy(rows, ({ offer }) => offer).values()
  return Array.from(groups, (group) => new Map(group.map((row) => [row.name, row])))
}

function* judge(
  { language, checkerLanguage, interactorLanguage, requires = [] }: Needed,
  offers: readonly Offer[],
): Generator<Issue> {
  // Before its first worker a service takes what any could run.
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
  if (language === undefined) return
  const having = offers.filter((offer) => offer.has(language))
  const able = having.filter((offer) => judging === undefined || offer.has(judging))
  // One worker compiles and runs both.
  if (absent.length === 0 && able.length === 0)
    yield {
      path,
      message: `is offered by no worker that offers ${language} too, ${never}`,
    }
  for (const capability of requires) {
    const workers = able.length > 0 ? able : having
    if (
      workers.length === 0 ||
      workers.some((offer) => !offer.get(language)?.lacks.includes(capability))
    )
      continue
    yield { path: capability, message: `is offered for ${language} by no worker, ${never}` }
  }
}
