// Judges the programs of known reward: compares the log with what their clients received.
import type { Database } from '#database'
import type { Reward } from './reward.ts'

/** The start of every program's tag; the program's number follows. */
export const tagStart = 'reward '
/** From this number of requests on, cut connections are frequent enough that at least one cut request must have arrived. */
const provenFrom = 5000

export interface RewardJudgement {
  /** One line for a reader. */
  readonly summary: string
  /** Submissions whose ids the clients received. */
  readonly acknowledged: number
  /** Everything that is not as it must be. */
  readonly broken: readonly string[]
}

/** The requests with one idempotency key. */
export interface Asked {
  /** True when one of the requests ended without an answer. */
  isCut: boolean
  /** The time at which the answered request was sent, in milliseconds. */
  answeredOf: number
  readonly ids: Set<string>
}

/** The log's entries for one program. */
interface Logged {
  readonly tag: string
  readonly submissions: number
  /** The number of idempotency keys of these submissions. */
  readonly keys: number
  /** Verdicts of all completions; null for one that is the platform's fault. */
  readonly verdicts: readonly (string | null)[]
}

/** @param asked by idempotency key. @param known by tag. @param wrong by tag, in words. */
export async function judgeRewards(
  sql: Database,
  asked: ReadonlyMap<string, Asked>,
  known: ReadonlyMap<string, Reward>,
  wrong: ReadonlyMap<string, string>,
): Promise<RewardJudgement> {
  const receivedAt = await readReceived(sql)
  const logged = await readLogged(sql)
  const told = [...asked.values()]
  const ids = new Set(told.flatMap((about) => [...about.ids]))
  const ran = ({ verdicts }: Logged): number =>
    verdicts.filter((verdict) => verdict !== null).length
  const twice = logged.filter((program) => ran(program) > 1)
  const misjudged = logged.filter(({ tag, verdicts }) =>
    verdicts.some((verdict) => verdict !== null && verdict !== known.get(tag)?.verdict),
  )
  const adopted = told.filter(({ isCut, ids: [id], answeredOf }) => {
    const at = receivedAt.get(id ?? '')
    return isCut && at !== undefined && at < answeredOf
  })
  const again = logged.reduce(
    (sum, { verdicts }) => sum + verdicts.filter((verdict) => verdict === null).length,
    0,
  )
  const broken = [
    ...[...wrong].map(([tag, flaw]) => `${tag}, ${flaw}`),
    ...twice.map((program) => `run twice: ${JSON.stringify(program)}`),
    ...misjudged.map((program) => `the log has another verdict: ${JSON.stringify(program)}`),
    ...logged.filter((program) => ran(program) === 0).map(({ tag }) => `${tag} was never run`),
    ...logged
      .filter(({ submissions, keys }) => submissions !== keys)
      .map((program) => `submissions and keys differ: ${JSON.stringify(program)}`),
    ...told
      .filter((about) => about.ids.size > 1)
      .map((about) => `one key, two submissions: ${[...about.ids].join(', ')}`),
    ...[...ids].filter((id) => !receivedAt.has(id)).map((id) => `lost: ${id}`),
    ...[...receivedAt.keys()]
      .filter((id) => !ids.has(id))
      .map((id) => `${id} was submitted, and its client does not know it`),
    // Without an adopted request the run has not tested adoption.
    ...(adopted.length === 0 && told.length >= provenFrom ? ['nothing was adopted'] : []),
  ]
  const summary =
    `rewards: ${logged.length} programs, ${new Set([...wrong.keys(), ...misjudged.map(({ tag }) => tag)]).size} wrong, ${twice.length} run twice, ` +
    `${adopted.length} adopted after a cut connection, ${again} run again after a platform's fault`
  return { summary, acknowledged: ids.size, broken }
}

/** Returns when each submission of a program was received, in milliseconds. */
async function readReceived(sql: Database): Promise<Map<string, number>> {
  const rows = await sql<{ id: string; at: number }[]>`
    select stream_id as id, extract(epoch from recorded_at)::double precision * 1000 as at from runledger.event
    where type = 'submission.received' and starts_with(data ->> 'tag', ${tagStart})`
  return new Map(rows.map(({ id, at }) => [id, at]))
}

async function readLogged(sql: Database): Promise<readonly Logged[]> {
  return sql<Logged[]>`
    select tag, count(*)::integer as submissions, coalesce(sum(keys), 0)::integer as keys,
      jsonb_path_query_array(jsonb_agg(verdicts), '$[*][*]') as verdicts
    from (select stream_id, data ->> 'tag' as tag from runledger.event where type = 'submission.received') submission
    left join (
      select submission_id, count(*) as keys from runledger.idempotency group by submission_id
    ) named on named.submission_id = stream_id
    cross join lateral (
      select coalesce(jsonb_agg(ended.data -> 'verdict'), '[]') as verdicts from runledger.event ended
      where ended.stream_id = submission.stream_id and ended.type in ('execution.completed', 'execution.abandoned')
    ) ends
    where starts_with(tag, ${tagStart}) group by tag`
}
