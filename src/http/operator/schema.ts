// Schemas of what operators are answered, for the OpenAPI document.
import * as v from 'valibot'
import { verdicts } from '#event'
import { bulkActions } from '#operator'
import { resultStatuses, webhookStates } from '#result'
import { bulkSchema, replaySchema, verifySchema } from './step-schema.ts'

const uuid = v.pipe(v.string(), v.metadata({ format: 'uuid' }))
const time = v.pipe(v.string(), v.metadata({ format: 'date-time' }))
const seconds = v.pipe(v.number(), v.minValue(0))
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const limit = v.pipe(v.nullable(count), v.description('null: without a limit.'))
const counts = v.record(v.string(), count)

const percentiles = v.nullable(v.object({ p50: seconds, p95: seconds, p99: seconds }))

const oldest = v.object({
  id: uuid,
  seconds,
  language: v.string(),
  account: v.nullable(v.string()),
  priority: v.picklist(['normal', 'low']),
})

const load = v.object({
  waiting: v.pipe(count, v.description('They wait for a place of their key.')),
  queued: v.pipe(count, v.description('They wait for a worker.')),
  running: count,
  oldest_waiting_seconds: seconds,
  oldest_queued_seconds: seconds,
  workers: count,
  suspended_workers: count,
  paused_workers: count,
  slots: v.pipe(count, v.description('Of workers that take submissions.')),
  deliveries_pending: count,
})

const language = v.object({
  language: v.string(),
  waiting: count,
  low: v.pipe(count, v.description('Of those that wait.')),
  running: count,
  oldest_seconds: seconds,
})

const point = v.object({
  at: time,
  seconds: v.pipe(seconds, v.description('The last one is under way.')),
  received: count,
  ended: count,
  failed: v.pipe(count, v.description('Of those that ended: by the service’s own fault.')),
  waiting: v.pipe(count, v.description('At its end, for a place of their key or for a worker.')),
  waited_p95: v.pipe(
    v.nullable(seconds),
    v.description('Of those that were received in it; null where none started or waits.'),
  ),
  refused: v.pipe(count, v.description('By the answering process.')),
})

const account = v.object({
  id: uuid,
  name: v.string(),
  waiting: count,
  running: count,
  blob_bytes: count,
  keys: v.pipe(
    v.array(
      v.object({
        id: uuid,
        label: v.string(),
        name: v.nullable(v.string()),
        tier: v.string(),
        unfinished: count,
        admitted: v.pipe(count, v.description('They have a place of the key’s.')),
        concurrent_executions: limit,
        requests: v.pipe(count, v.description('Of the last 60 seconds.')),
        requests_per_minute: limit,
        blob_bytes: limit,
      }),
    ),
    v.description('The ten busiest.'),
  ),
})

/** Of workers that nobody has given up. */
const states = ['working', 'suspended', 'paused', 'draining', 'restarting', 'gone'] as const

const seenWorker = v.object({
  id: uuid,
  host: v.string(),
  pid: count,
  state: v.picklist(states),
  wanted: v.picklist(['working', 'paused', 'drained', 'restarted']),
  version: v.nullable(v.string()),
  box: v.nullable(v.string()),
  cgroup: v.nullable(v.string()),
  slots: count,
  busy: count,
  started_at: time,
  heartbeat_seconds: v.number(),
  suspended_at: v.nullable(time),
  suspended_because: v.nullable(v.string()),
  languages: v.array(v.string()),
})

const recent = v.object({
  seconds: v.pipe(seconds, v.description('So far back the figures reach: 300, or less.')),
  received: count,
  ended: count,
  waited: percentiles,
  ran: percentiles,
  took: percentiles,
  verdicts: counts,
  languages: counts,
})

const ledger = v.object({
  drift: count,
  broken_chain: count,
  invariant: count,
  checked_at: v.nullable(time),
  walked_at: v.pipe(
    v.nullable(time),
    v.description('When a walk through the whole log last came to its end.'),
  ),
  walked_up_to: time,
  suspects: v.array(uuid),
})

const webhook = v.object({
  webhook_id: uuid,
  submission_id: v.pipe(v.nullable(uuid), v.description("null: it is a batch's.")),
  batch_id: v.pipe(v.nullable(uuid), v.description("null: it is a submission's.")),
  account: v.nullable(v.string()),
  receiver: v.nullable(v.string()),
  state: v.picklist(webhookStates),
  attempts: count,
  next_attempt_at: v.nullable(time),
  last_attempt_at: v.nullable(time),
  last_outcome: v.nullable(v.string()),
  last_status: v.nullable(count),
  ended_at: v.nullable(time),
  abandoned_because: v.nullable(v.string()),
})

const webhookEvent = v.object({
  version: count,
  type: v.string(),
  at: time,
  data: v.record(v.string(), v.unknown()),
  metadata: v.record(v.string(), v.unknown()),
})

const rerun = v.object({
  id: v.pipe(uuid, v.description('The first submission.')),
  rerun_id: uuid,
  verdict_before: v.string(),
  verdict_after: v.string(),
  output: v.pipe(
    v.nullable(v.picklist(['same', 'differs', 'not known'])),
    v.description(
      'stdout, exit code and signal of both, where nothing was expected; null: it was judged.',
    ),
  ),
  tag: v.nullable(v.string()),
})

const running = v.object({
  submission: uuid,
  account: v.nullable(v.string()),
  api_key: v.nullable(v.string()),
  language: v.string(),
  attempt: count,
  worker: v.nullable(uuid),
  host: v.nullable(v.string()),
  started_at: v.nullable(time),
  seconds: v.nullable(v.number()),
})

/** By name in the document. */
export const operatorSchemas = {
  Bulk: bulkSchema,
  Replay: replaySchema,
  Workers: v.object({
    workers: v.array(
      v.object({
        ...v.omit(seenWorker, ['wanted', 'languages']).entries,
        state: v.pipe(
          v.picklist([...states, 'lost', 'drained']),
          v.description(
            'gone: silent, not yet given up; lost: given up; drained: it ended by itself.',
          ),
        ),
        languages: v.pipe(v.string(), v.description('Versions, in the order of languages.')),
      }),
    ),
  }),
  Running: v.object({
    running: v.pipe(v.array(running), v.description('The longest first.')),
  }),
  Found: v.object({
    submissions: v.array(
      v.object({
        id: uuid,
        account: v.nullable(v.string()),
        api_key: v.nullable(v.string()),
        language: v.string(),
        status: v.picklist(resultStatuses),
        verdict: v.nullable(v.picklist(verdicts)),
        created_at: time,
        started_at: v.nullable(time),
        finished_at: v.nullable(time),
      }),
    ),
    accounts: v.array(
      v.object({ id: uuid, name: v.string(), created_at: time, blob_bytes: count }),
    ),
    keys: v.array(
      v.object({
        id: uuid,
        account: v.string(),
        label: v.string(),
        name: v.nullable(v.string()),
        tier: v.string(),
        role: v.picklist(['submit', 'operator']),
        created_at: time,
        expires_at: v.nullable(time),
        revoked_at: v.nullable(time),
      }),
    ),
  }),
  Webhooks: v.object({
    webhooks: v.pipe(v.array(webhook), v.description('The newest first.')),
  }),
  Webhook: v.object({ webhook, events: v.array(webhookEvent) }),
  Replayed: v.object({
    webhook: uuid,
    replayed: v.boolean(),
    was: v.picklist(['delivered', 'abandoned']),
  }),
  Reruns: v.object({
    repeated: v.pipe(count, v.description('On this page, as all counts.')),
    unfinished: count,
    cancelled: count,
    outputs: v.pipe(
      v.object({ same: count, differs: count, not_known: count }),
      v.description(
        'Of those where nothing was expected; not_known: a part of one was kept, or one failed.',
      ),
    ),
    changes: v.pipe(v.array(rerun), v.description('Those whose verdict or output differs.')),
    next: v.pipe(v.nullable(uuid), v.description('Give it as after; null: that was all.')),
  }),
  Verify: verifySchema,
  VerifyStep: v.object({
    events: count,
    drift: count,
    broken_chain: count,
    invariant: count,
    suspects: v.array(uuid),
    next: v.pipe(v.nullable(uuid), v.description('Give it as after; null: that was all.')),
    share: v.pipe(
      v.nullable(v.number()),
      v.description('Of the log’s time that is behind it, 0 to 1; null: not known.'),
    ),
    busy: v.pipe(v.boolean(), v.description('Another walk took its step: try again in a second.')),
  }),
  BulkStep: v.object({
    action: v.picklist(bulkActions),
    until: v.pipe(time, v.description('What came later is left. Give it with the next step.')),
    count: v.pipe(
      count,
      v.description(
        'So many were changed; with dry_run so many would be, of those this step looked at.',
      ),
    ),
    skipped: v.pipe(
      v.object({ done: count, purged: count, not_offered: count }),
      v.description(
        'Of a rerun, what fits and is not repeated: the campaign has done so, its code is gone, no worker has its languages.',
      ),
    ),
    next: v.pipe(
      v.nullable(uuid),
      v.description('Give it as after: there may be more. null: that was all.'),
    ),
    busy: v.pipe(
      v.boolean(),
      v.description('It stopped for want of room: go on from next in a second.'),
    ),
  }),
  CommandedWorker: v.object({
    id: uuid,
    host: v.string(),
    state: seenWorker.entries.state,
    wanted: seenWorker.entries.wanted,
    changed: v.pipe(
      v.boolean(),
      v.description('false: it was so already, or it drains or restarts, and nothing was written.'),
    ),
  }),
  Series: v.object({
    at: time,
    step_seconds: seconds,
    share: v.pipe(
      v.number(),
      v.description('Of the time, so much was looked at; below 1 counts are estimates.'),
    ),
    points: v.array(point),
  }),
  Overview: v.object({
    at: time,
    oldest: v.pipe(
      v.nullable(oldest),
      v.description('What has waited longest; null when nothing waits.'),
    ),
    load,
    languages: v.array(language),
    accounts: v.pipe(v.array(account), v.description('The twenty with most under way.')),
    workers: v.array(seenWorker),
    recent,
    ledger,
    refusals: v.pipe(
      v.object({ seconds, counts }),
      v.description('What the answering process refused of late, by error code.'),
    ),
    read_only: v.pipe(v.boolean(), v.description('The key may look, and change nothing.')),
  }),
}
