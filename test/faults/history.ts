// The judgement: compares the log at the end with the answers that clients received, and finds what is left on the machine.
import { readFileSync, readdirSync } from 'node:fs'
import type { Database } from '#database'
import { findControlGroups } from '../helper/control-group.ts'
import type { Acknowledged, Load } from './load.ts'

const ends = ['execution.completed', 'execution.abandoned', 'submission.cancelled']

export interface Judgement {
  readonly acknowledged: number
  /** Acknowledged ids that are missing in the log. */
  readonly lost: readonly string[]
  /** Submissions with two ends, and requests that made two submissions. */
  readonly doubled: readonly string[]
  /** Submissions without an end. */
  readonly stuck: readonly string[]
  /** All other broken promises. */
  readonly broken: readonly string[]
  /** Submissions abandoned after their third loss. */
  readonly abandoned: number
  /** Interrupted runs, which were restarted. */
  readonly interrupted: number
  readonly webhooks: number
  /** Submissions that their clients have cancelled. */
  readonly cancelled: number
  /** Completed submissions with tests. */
  readonly tested: number
}

/**
 * @param delivered webhook ids that the receiver has answered with 200. @param probes the number of the suite's own
 * submissions.
 */
export async function judge(
  sql: Database,
  load: Load,
  delivered: ReadonlySet<string>,
  probes: number,
): Promise<Judgement> {
  const acknowledged = [...load.acknowledged.values()]
  const received = await listIds(sql`select stream_id as id from runledger.event where type = 'submission.received'`) // prettier-ignore
  const known = new Set(received)
  const lost = acknowledged.filter(({ id }) => !known.has(id)).map(({ id }) => id)
  const stuck = await listIds(
    sql`
      select e.stream_id as id from runledger.event e where e.type = 'submission.received' and not exists (
        select from runledger.event ended
        where ended.stream_id = e.stream_id and ended.type = any(${ends}))`,
  )
  const doubled = [
    ...load.doubled,
    ...(await listIds(
      sql`
        select stream_id as id from runledger.event where type = any(${ends})
        group by stream_id having count(*) > 1`,
    )),
  ]
  const surplus = known.size - acknowledged.length - probes
  if (surplus > 0) doubled.push(`${surplus} more submissions than idempotency keys`)

  const broken: string[] = [...load.wrong]
  const note = async (what: string, rows: PromiseLike<readonly object[]>): Promise<void> => {
    for (const row of await rows) broken.push(`${what}: ${JSON.stringify(row)}`)
  }
  await note(
    'a version is missing',
    sql`
    select stream_id from runledger.event group by stream_id having max(stream_version) <> count(*)`,
  )
  await note(
    'something follows the end',
    sql`
    select later.stream_id, later.type from runledger.event ended
    join runledger.event later on later.stream_id = ended.stream_id and later.stream_version > ended.stream_version
    where ended.type = any(${ends}) and later.type <> 'submission.purged'`,
  )
  const cancelled = await listIds(sql`select stream_id as id from runledger.event where type = 'submission.cancelled'`) // prettier-ignore
  broken.push(...contradict(load.cancels, new Set(cancelled)))
  broken.push(...(await findMisjudged(sql, acknowledged)))
  await note('audit.drift', sql`select * from audit.drift limit 5`)
  await note('audit.broken_chain', sql`select * from audit.broken_chain limit 5`)
  await note('audit.invariant', sql`select * from audit.invariant limit 5`)
  await note('still pending', sql`select * from runledger.pending limit 5`)
  await note(
    'a webhook has no job',
    sql`
    select webhook_id, state from runledger.delivery d
    where state = 'waiting' or state = 'pending' and not exists (
      select from graphile_worker.jobs j where j.key = d.webhook_id::text and j.attempts < j.max_attempts)`,
  )
  const told = await listIds(
    sql`select webhook_id as id from runledger.delivery where state = 'delivered'`,
  )
  for (const id of told.filter((webhook) => !delivered.has(webhook))) {
    broken.push(`webhook ${id} is recorded as delivered, and nobody received it`)
  }
  const [count] = await sql`
    select count(*) filter (where type = 'execution.abandoned') as abandoned,
      count(*) filter (where type = 'execution.interrupted') as interrupted,
      count(*) filter (where type = 'execution.completed' and data ? 'tests') as tested
    from runledger.event`
  return {
    acknowledged: acknowledged.length,
    lost,
    doubled,
    stuck,
    broken,
    abandoned: Number(count?.['abandoned']),
    interrupted: Number(count?.['interrupted']),
    webhooks: told.length,
    cancelled: cancelled.length,
    tested: Number(count?.['tested']),
  }
}

/** Checks the answers to cancels: each must agree with the log, and no submission is cancelled without a request. */
function contradict(cancels: Load['cancels'], cancelled: ReadonlySet<string>): string[] {
  const unasked = [...cancelled].filter((id) => !cancels.has(id))
  const untrue = [...cancels].filter(([id, told]) => {
    const isTold = told === 'running' || told === 'queued' || told === 'cancelled'
    return told !== null && isTold !== cancelled.has(id)
  })
  return [
    ...unasked.map((id) => `${id} was cancelled, and nobody asked for that`),
    ...untrue.map(
      ([id, told]) => `the cancel of ${id} was answered with ${told}, and then that changed`,
    ),
  ]
}

/** Returns verdicts in the log, of submissions and of their tests, that differ from what the programs do. */
async function findMisjudged(
  sql: Database,
  acknowledged: readonly Acknowledged[],
): Promise<string[]> {
  const rows = await sql`
    select stream_id as id, data ->> 'verdict' as verdict,
      jsonb_path_query_array(data, '$.tests[*].verdict') as tests
    from runledger.event where type = 'execution.completed'`
  const recorded = new Map(
    rows.map(({ id, verdict, tests }) => [id as string, JSON.stringify([verdict, tests])]),
  )
  return acknowledged.flatMap(({ id, expected: { verdict, tests } }) => {
    const found = recorded.get(id)
    const known = JSON.stringify([verdict, tests ?? []])
    return found === undefined || found === known
      ? []
      : [`${id} is recorded as ${found}, and is ${known}`]
  })
}

async function listIds(rows: PromiseLike<readonly object[]>): Promise<string[]> {
  return (await rows).map((row) => (row as { id: string }).id)
}

/** Returns the cgroups, mounts and processes of these workers that still exist. */
export function findLeftovers(
  pids: ReadonlySet<number>,
  directory: string,
  uids: { readonly first: number; readonly count: number },
): string[] {
  const left = findControlGroups(/^runledger-\d+-\d+-\d+-\d+$/)
    .filter((path) => pids.has(Number(path.split('-').at(-3))))
    .map((path) => `cgroup ${path}`)
  for (const line of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
    if (line.includes(directory)) left.push(`mount ${line}`)
  }
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      const uid = Number(/^Uid:\t(\d+)/m.exec(status)?.[1])
      if (uid >= uids.first && uid < uids.first + uids.count && !/^State:\t[ZX]/m.test(status)) {
        left.push(`process ${pid} of uid ${uid}`)
      }
    } catch {
      // the process has just ended
    }
  }
  return left
}
