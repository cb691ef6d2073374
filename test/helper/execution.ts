// Executes submissions without a worker, with the SQL functions that a worker calls, for tests of what comes before and after.
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { v7 as uuidv7 } from 'uuid'
import { json } from '#database'
import type { Database } from '#database'
import { capabilities } from '#options'
import type { Difference } from '#checker'
import { digestBody } from '#event'
import { describeLimits } from '#execute'
import { defaultLimits } from '#language'
import type { Language } from '#language'
import { notifyWaiters } from '#notify'
import { encodeReport } from '#report'
import type { FileReport, TestReport } from '#report'

/** The result of a pretended run. */
export interface PretendedRun {
  readonly stdout?: string | Buffer
  readonly stderr?: string
  readonly verdict?: string
  /** The reports of its tests. */
  readonly tests?: readonly TestReport[]
  readonly files?: readonly FileReport[] | null
  readonly difference?: Difference | null
  /** Fields of the event that are added, or replace the usual ones. */
  readonly data?: object
}

const pretendedWorker = uuidv7()

/** A started execution: the version of its event and the name of the attempt. */
export interface PretendedAttempt {
  readonly version: number
  readonly run: string
}

/** Starts a submission's execution. @returns null when it has ended or runs already. */
export async function startAttempt(
  sql: Database,
  id: string,
  {
    workerId = pretendedWorker,
    does = capabilities,
  }: { workerId?: string; does?: readonly string[] } = {},
): Promise<PretendedAttempt | null> {
  const [result] = await sql<{ language: Language }[]>`
    select language from runledger.submission where id = ${id}`
  const language = result?.language ?? 'python'
  const data = {
    worker: workerId,
    host: hostname(),
    host_cores: 2,
    isolation: { box: 'keeper', cgroup: 'v2', uid: 'slot' },
  }
  const program = { runtime: 'Python 3.11.2', limits: describeLimits(defaultLimits.python) }
  const programs = { python: program, cpp: program, java: program, [language]: program }
  const [row] = await sql<PretendedAttempt[]>`
    select version, run from runledger.start(
      ${workerId}, array[${id}::uuid], array[${uuidv7()}], array[${language}], ${json(sql, data)}, ${json(sql, programs)},
      ${json(sql, Object.keys(programs))}, ${json(sql, does)}, ${json(sql, { actor: { worker: workerId } })}
    )`
  return row ?? null
}

/** Starts a submission's execution, as startAttempt does. @returns the version of the event. */
export async function startExecution(
  ...attempt: Parameters<typeof startAttempt>
): Promise<number | null> {
  return (await startAttempt(...attempt))?.version ?? null
}

/** An item of runledger.conclude, with stdout and stderr as text. */
export interface PretendedEnd {
  readonly id: string
  readonly version: number | null
  readonly data?: object
  readonly run?: string
  readonly stdout?: string | Buffer
  readonly stderr?: string
  readonly report?: Buffer | null
}

/** Returns an item of runledger.conclude; without `data`, of a run that ended well. */
export function describeEnd({
  id,
  version,
  data,
  run,
  stdout,
  stderr,
  report,
}: PretendedEnd): object {
  return {
    submission_id: id,
    started_version: version,
    run,
    schema_version: 1,
    data: data ?? { verdict: 'AC', exit_code: 0 },
    metadata: { actor: { worker: pretendedWorker } },
    stdout: Buffer.from(stdout ?? '').toString('base64'),
    stderr: Buffer.from(stderr ?? '').toString('base64'),
    report: report?.toString('base64'),
  }
}

/** Ends a started execution, perhaps in a transaction. @throws {Error} with the refusal as its code. */
export async function conclude(sql: Database, end: PretendedEnd): Promise<void> {
  const [row] = await sql<
    [{ refusal: string | null; waiters: string[] | null; notification: string }]
  >`select * from runledger.conclude(${json(sql, [describeEnd(end)])})`
  if (row.refusal !== null)
    throw Object.assign(new Error(`not ended: ${row.refusal}`), { code: row.refusal })
  for (const waiter of row.waiters ?? []) await sql.notify(waiter, row.notification)
}

/** Records the loss of a started execution. @returns the outcome. */
export async function interrupt(
  sql: Database,
  id: string,
  version: number,
  loss: object = { reason: 'worker_lost', spends_attempt: true },
  { isLast = false, run }: { isLast?: boolean; run?: string } = {},
): Promise<string | undefined> {
  const [row] = await sql<{ outcome: string; waiters: string[] | null }[]>`
    select outcome, waiters from runledger.interrupt(
      ${id}, ${version}, ${run ?? null}, 1, ${json(sql, loss)}, '{"actor": {}}', ${isLast}
    )`
  await notifyWaiters(sql, id, row?.waiters ?? null)
  return row?.outcome
}

/** Completes a started execution as a worker does. */
export async function completeExecution(
  sql: Database,
  id: string,
  version: number,
  {
    stdout = '',
    stderr = '',
    verdict = 'AC',
    tests,
    files = null,
    difference = null,
    data: more = {},
  }: PretendedRun = {},
): Promise<void> {
  const [out, err] = [Buffer.from(stdout), Buffer.from(stderr)]
  const report = encodeReport({ difference, tests: tests ?? null, files })
  const phase = {
    ending: 'exited',
    exit_code: verdict === 'AC' ? 0 : 1,
    signal: null,
    cpu_time: 0.01,
    wall_time: 0.02,
    memory_peak: 9_000_000,
  }
  const data = {
    verdict,
    exit_code: phase.exit_code,
    signal: null,
    compile: null,
    run: phase,
    stdout: { ...digestBody(out), truncated: false },
    stderr: { ...digestBody(err), truncated: false },
    compile_output: null,
    ...(report !== null && { report: digestBody(report) }),
    ...more,
  }
  await conclude(sql, { id, version, data, stdout: out, stderr, report })
}

/** Runs a submission from start to end. */
export async function finish(sql: Database, id: string, run: PretendedRun = {}): Promise<void> {
  const version = await startExecution(sql, id)
  if (version === null) throw new Error(`submission ${id} cannot start`)
  await completeExecution(sql, id, version, run)
}

/** Registers a worker as a live worker does. The given connection holds the worker's lock until it ends. */
export async function pretendWorker(
  sql: Database,
  languages: Partial<Record<Language, object>>,
): Promise<void> {
  await sql`
    select runledger.register_worker(${uuidv7()}, ${hostname()}, ${process.pid}, 2, ${json(sql, languages)}, 15)`
}

/** Adds a worker that counts as alive for a while although it has no session lock. @returns its id. */
export async function addWorker(sql: Database): Promise<string> {
  const id = uuidv7()
  await sql`
    insert into runledger.worker (id, host, pid, slots, languages, lease_seconds)
    values (${id}, 'test', 1, 1, '{}', 2000)`
  return id
}

/** The result of a pretended attempt to deliver a webhook. */
export interface PretendedDelivery {
  readonly outcome: 'delivered' | 'refused' | 'unreachable' | 'gone'
  readonly status?: number
  readonly snippet?: string
  readonly seconds?: number
  /** The time to the next attempt. */
  readonly retrySeconds?: number
  readonly abandonedBecause?: string
  /** The version of the webhook's last event, by default the present one. */
  readonly version?: number
}

/** Records the next attempt to deliver the webhook of a submission or a batch, as a worker does. */
export async function recordDelivery(
  sql: Database,
  id: string,
  { retrySeconds, abandonedBecause, version, seconds = 0.1, ...told }: PretendedDelivery,
): Promise<void> {
  const type = told.outcome === 'delivered' ? 'webhook.delivered' : 'webhook.attempt_failed'
  const data = { submission: id, status: null, snippet: '', duration_seconds: seconds, ...told }
  await sql`
    select runledger.record_attempt(
      d.webhook_id,
      coalesce(
        ${version ?? null}::integer,
        (select max(e.stream_version) from runledger.event e where e.stream_id = d.webhook_id), 0
      ),
      ${type}, 1, ${json(sql, data)} || jsonb_build_object('attempt', d.attempts + 1),
      ${json(sql, { actor: { worker: 'secret worker' } })}, ${retrySeconds ?? null}, ${abandonedBecause ?? null}
    )
    from runledger.delivery d where d.submission_id = ${id}`
}

/** Lists the submissions that have not ended, in the order of their ids. */
export async function listPending(sql: Database): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select submission_id as id from runledger.pending order by submission_id`
  return rows.map(({ id }) => id)
}

/** Waits until somebody waits for the end of a submission. @returns the submission's id. */
export async function findAwaited(sql: Database): Promise<string> {
  for (;;) {
    const [row] = await sql<{ id: string }[]>`
      select submission_id as id from runledger.pending where waiters is not null`
    if (row !== undefined) return row.id
    await sleep(5)
  }
}

/** A submission that a worker has taken and started. */
export interface Taken {
  readonly submission_id: string
  readonly account_id: string
  readonly version: number
  readonly run: string
  readonly code: Buffer | null
}

/** Takes the next job in these languages, in graphile-worker's order, and starts it. @returns null when none is due. */
export async function takeNext(
  sql: Database,
  worker: string = pretendedWorker,
  languages: readonly string[] = ['python'],
): Promise<Taken | null> {
  const tasks = languages.map((language) => `execute:${language}`)
  const programs = Object.fromEntries(languages.map((language) => [language, { runtime: 'test' }]))
  for (;;) {
    const [job] = await sql<{ id: number; key: string; language: string }[]>`
      select id, key, split_part(task_identifier, ':', 2) as language from graphile_worker.jobs
      where task_identifier = any (${tasks}) and locked_at is null and run_at <= now() and attempts < max_attempts
      order by priority, run_at, id limit 1`
    if (job === undefined) return null
    await sql`select graphile_worker.complete_jobs(array[${job.id}]::bigint[])`
    const [row] = await sql<Taken[]>`
      select * from runledger.start(
        ${worker}, array[${job.key}::uuid], array[${uuidv7()}], array[${job.language}], ${json(sql, { worker })},
        ${json(sql, programs)}, ${json(sql, languages)}, ${json(sql, capabilities)}, ${json(sql, { actor: { worker } })}
      )`
    if (row !== undefined) return row
  }
}

/** Ends a taken submission. @param slotSeconds as the worker has measured them. */
export async function endTaken(sql: Database, taken: Taken, slotSeconds?: number): Promise<void> {
  const data = { verdict: 'AC', exit_code: 0, slot_seconds: slotSeconds }
  const { submission_id: id, version, run } = taken
  await conclude(sql, { id, version, run, data })
}
