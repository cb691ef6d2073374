// A submission's row is a fold of its events: given these events, when one more comes, then the row holds this. The tests of
// the transitions compare what each transition writes with the fold, by audit.drift.
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { json } from '#database'
import { openTestDatabase } from '../helper/database.ts'

const { sql } = await openTestDatabase(t)

type Event = readonly [type: string, data?: object]

const [account, key] = [uuidv7(), uuidv7()]
const received: Event = ['submission.received', { account, api_key: key, language: 'cpp' }]
const repeated: Event = [
  'submission.received',
  { account, api_key: key, language: 'cpp', rerun_of: uuidv7() },
]
const started: Event = ['execution.started', { runtime: 'GCC 12', run: 'a' }]
const startedAgain: Event = ['execution.started', { runtime: 'GCC 13', run: 'b' }]
const interrupted: Event = ['execution.interrupted', { reason: 'worker_lost' }]
const abandoned: Event = ['execution.abandoned', { losses: 3 }]
const purged: Event = ['submission.purged', { reason: 'retention' }]
const completed: Event = [
  'execution.completed',
  {
    verdict: 'RE',
    exit_code: 139,
    signal: 'SIGSEGV',
    stdout: { truncated: true },
    stderr: { truncated: false },
    run: { cpu_time: 0.5, wall_time: 1, memory_peak: 4096 },
  },
]
const cancelRequested: Event = ['submission.cancel_requested', { attempt: 1 }]
const cancelled: Event = ['submission.cancelled', {}]
const cancelledRunning: Event = [
  'submission.cancelled',
  {
    exit_code: 137,
    signal: 'SIGKILL',
    stdout: { truncated: true },
    stderr: { truncated: false },
    run: { cpu_time: 0.5, wall_time: 1, memory_peak: 4096 },
  },
]
const notCompiled: Event = ['execution.completed', { verdict: 'CE', exit_code: null, run: null }]
const unknown: Event = ['submission.praised', { by: 'a later release' }]

const nothing = { verdict: null, exit_code: null, cpu_time: null, stdout_truncated: null }
const ranOnce = { runtime: 'GCC 12', cpu_time: 0.5, wall_time: 1, memory_peak: 4096n }

/** The earlier events, the new event, and what the row then holds. */
const rows: readonly (readonly [given: readonly Event[], when: Event, then: object])[] = [
  [[], received, { status: 'queued', language: 'cpp', account_id: account, api_key_id: key }],
  [[], received, { ...nothing, runtime: null, started_at: null, finished_at: null }],
  [[], received, { rerun_of: null }],
  [[], repeated, { status: 'queued', rerun_of: String }],
  [[repeated, started], completed, { status: 'completed', rerun_of: String }],
  [[received], started, { status: 'running', runtime: 'GCC 12', ...nothing }],
  [[received, started], interrupted, { status: 'queued', runtime: null, started_at: null }],
  [[received, started, interrupted], startedAgain, { status: 'running', runtime: 'GCC 13' }],
  [[received, started], completed, { status: 'completed', verdict: 'RE', exit_code: 139 }],
  [[received, started], completed, { signal: 'SIGSEGV', stdout_truncated: true, ...ranOnce }],
  [[received, started], notCompiled, { status: 'completed', verdict: 'CE', exit_code: null }],
  [[received, started], notCompiled, { cpu_time: 0, wall_time: 0, memory_peak: 0n }],
  [[received, started, interrupted], abandoned, { status: 'failed', verdict: 'IE', cpu_time: 0 }],
  [[received], cancelled, { status: 'cancelled', verdict: null, runtime: null, cpu_time: 0 }],
  [[received, started, interrupted], cancelled, { status: 'cancelled', runtime: 'GCC 12' }],
  [[received, started], cancelRequested, { status: 'running', runtime: 'GCC 12', ...nothing }],
  [[received, started, cancelRequested], cancelledRunning, { status: 'cancelled', verdict: null }],
  [[received, started, cancelRequested], cancelledRunning, { stdout_truncated: true, ...ranOnce }],
  [[received, started, cancelRequested], cancelled, { status: 'cancelled', cpu_time: 0 }],
  [[received, cancelled], purged, { status: 'cancelled', version: 3 }],
  [[received, started, completed], purged, { status: 'completed', verdict: 'RE', version: 4 }],
  [[received, started, interrupted, abandoned], purged, { status: 'failed', version: 5 }],
  [[received, started], unknown, { status: 'running', runtime: 'GCC 12', version: 3 }],
  [[received, started, completed], unknown, { status: 'completed', version: 4, ...ranOnce }],
]

async function append(id: string, version: number, [type, data = {}]: Event): Promise<void> {
  await sql`select runledger.append_event(${id}, ${version}, ${type}, 1, ${json(sql, data)}, '{}')`
}

const name = ([type]: Event): string => type

for (const [given, when, then] of rows) {
  t.test(
    `${[...given, when].map(name).join(', ')}: ${JSON.stringify(Object.keys(then))}`,
    async (t) => {
      const id = uuidv7()
      const events = [...given, when]
      for (const [index, event] of events.entries()) await append(id, index + 1, event)
      const [derived] = await sql`select * from runledger.submission_from_log where id = ${id}`
      t.match(derived, { version: events.length, ...then })
    },
  )
}
