// What is asked of a history all day long: by callers, by workers, by the processes themselves, by operators and auditors. Each
// is to cost the same however long the log is.
import assert from 'node:assert/strict'
import type { Caller } from '#account'
import type { Database } from '#database'
import { readStream } from '#event'
import { listResults, readTrackedResult } from '#result'
import { describeSubmission, submit } from '../../test/helper/submission.ts'

/** A database of history.ts. */
export interface Ledger {
  readonly name: string
  readonly sql: Database
  /** The account with most submissions. */
  readonly caller: Caller
  /** Submissions of that account from the last days, and from the whole time. */
  readonly recent: readonly string[]
  readonly any: readonly string[]
  /** A live worker's, which takes what waits. */
  readonly worker: string
}

export interface Question {
  readonly name: string
  /** In one round. */
  readonly calls: number
  /** It costs more in a long history, but never more than so much; not judged. */
  readonly isBounded?: true
  /** Before each round, outside of the clock. */
  readonly prepare?: (ledger: Ledger) => Promise<void>
  /** @param call counts up. */
  readonly ask: (ledger: Ledger, call: number) => Promise<unknown>
}

const submission = describeSubmission({ code: 'print("hello")\n', language: 'python' })
const pick = (ids: readonly string[], call: number): string => ids[(call * 7919) % ids.length] ?? ''

async function receive({ sql, caller }: Ledger): Promise<void> {
  assert.equal((await submit(sql, caller, submission)).kind, 'received')
}

/** Takes and completes what waits. */
export async function completeWaiting({ sql, worker }: Ledger): Promise<void> {
  await sql`call bench.make(${worker}, 2000)`
}

const list =
  (filter: Partial<Parameters<typeof listResults>[2]>) =>
  ({ sql, caller }: Ledger) =>
    listResults(sql, caller.accountId, { limit: 50, ...filter })

export const questions: readonly Question[] = [
  { name: 'submit', calls: 200, ask: receive },
  {
    name: 'submit, take and complete',
    calls: 100,
    ask: async (ledger) => {
      await receive(ledger)
      await completeWaiting(ledger)
    },
  },
  {
    name: 'read a result of these days',
    calls: 1000,
    // What is asked for was written a moment ago.
    prepare: async ({ sql, caller, recent }) => {
      for (const id of recent) await readTrackedResult(sql, id, caller.accountId)
    },
    ask: async ({ sql, caller, recent }, call) =>
      assert.ok(await readTrackedResult(sql, pick(recent, call), caller.accountId)),
  },
  {
    name: 'read any result',
    calls: 500,
    ask: async ({ sql, caller, any }, call) =>
      assert.ok(await readTrackedResult(sql, pick(any, call), caller.accountId)),
  },
  {
    name: 'events of one',
    calls: 300,
    ask: async ({ sql, recent }, call) =>
      assert.equal((await readStream(sql, pick(recent, call))).length, 3),
  },
  { name: 'list, first page', calls: 60, ask: list({}) },
  {
    name: 'list, a page somewhere',
    calls: 60,
    ask: (ledger, call) => list({ before: pick(ledger.any, call) })(ledger),
  },
  { name: 'list, verdict WA', calls: 60, ask: list({ verdict: 'WA' }) },
  {
    name: 'list, verdict CE, which none has',
    calls: 3,
    isBounded: true,
    ask: list({ verdict: 'CE' }),
  },
  { name: 'list, running', calls: 3, ask: list({ status: 'running' }) },
  {
    name: 'list, failed, which none has',
    calls: 3,
    isBounded: true,
    ask: list({ status: 'failed' }),
  },
  { name: 'list, a tag that none has', calls: 3, isBounded: true, ask: list({ tag: 'none' }) },
  {
    name: 'list, a language that none has',
    calls: 3,
    isBounded: true,
    ask: list({ language: 'zsh' }),
  },
  {
    name: "operator's overview",
    calls: 20,
    ask: ({ sql }) => sql`select overview from audit.overview`,
  },
  { name: 'metrics: load', calls: 40, ask: ({ sql }) => sql`select * from runledger.read_load()` },
  {
    name: 'metrics: progress',
    calls: 40,
    ask: ({ sql }) => sql`
      select * from runledger.read_progress(
        pg_snapshot_xmin(pg_current_snapshot()), (select last_value from runledger.event_position)
      )`,
  },
  {
    name: 'reconciler: queue',
    calls: 20,
    ask: ({ sql }) => sql`select runledger.reconcile_queue()`,
  },
  {
    name: 'reconciler: ledger',
    calls: 3,
    ask: async ({ sql }) => {
      await sql`update runledger.ledger_check set checked_at = null`
      await sql`select runledger.check_ledger(300)`
    },
  },
  {
    name: 'audit.submission of an id',
    calls: 60,
    ask: async ({ sql, any }, call) => {
      assert.equal(
        (await sql`select * from audit.submission where id = ${pick(any, call)}`).length,
        1,
      )
    },
  },
  {
    name: 'audit.execution of a submission',
    calls: 60,
    ask: ({ sql, any }, call) =>
      sql`select * from audit.execution where submission_id = ${pick(any, call)}`,
  },
  {
    name: 'audit.body of an id',
    calls: 60,
    ask: ({ sql, any }, call) =>
      sql`select * from audit.body where submission_id = ${pick(any, call)}`,
  },
  {
    name: 'audit.event, the newest 100',
    calls: 40,
    ask: ({ sql }) => sql`select * from audit.event order by position desc limit 100`,
  },
  {
    name: 'audit.webhook of a submission',
    calls: 60,
    ask: ({ sql, any }, call) =>
      sql`select * from audit.webhook where submission_id = ${pick(any, call)}`,
  },
  {
    name: 'audit.webhook, those pending',
    calls: 10,
    ask: ({ sql }) => sql`select * from audit.webhook where state = 'pending'`,
  },
  { name: 'audit.worker', calls: 20, ask: ({ sql }) => sql`select * from audit.worker` },
  {
    name: 'audit.submission, 100 after an id',
    calls: 5,
    ask: ({ sql, recent }, call) => sql`
      select * from audit.submission where id > ${pick(recent, call)} order by id limit 100`,
  },
]
