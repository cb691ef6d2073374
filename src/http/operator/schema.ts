// The schemas of answers to operators, for the OpenAPI document.
import * as v from 'valibot'
import { verdicts } from '#event'
import { bulkActions, overviewSchema, seenWorker, seriesSchema, states } from '#operator'
import { resultStatuses, webhookStates } from '#result'
import { count, described, seconds, time, uuid } from '#schema'
import { bulkSchema, replaySchema, verifySchema } from './step-schema.ts'

const webhook = v.object({
  webhook_id: uuid,
  submission_id: described(v.nullable(uuid), "null: it is a batch's."),
  batch_id: described(v.nullable(uuid), "null: it is a submission's."),
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
  id: described(uuid, 'The first submission.'),
  rerun_id: uuid,
  verdict_before: v.string(),
  verdict_after: v.string(),
  output: described(
    v.nullable(v.picklist(['same', 'differs', 'not known'])),
    'stdout, exit code and signal of both, where nothing was expected; null: it was judged.',
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

/** The schemas by their name in the OpenAPI document. */
export const operatorSchemas = {
  Bulk: bulkSchema,
  Replay: replaySchema,
  Workers: v.object({
    workers: v.array(
      v.object({
        ...v.omit(seenWorker, ['wanted', 'languages']).entries,
        state: described(
          v.picklist([...states, 'lost', 'drained']),
          'gone: silent, not yet given up; lost: given up; drained: it ended by itself.',
        ),
        languages: described(v.string(), 'Versions, in the order of languages.'),
      }),
    ),
  }),
  Running: v.object({
    running: described(v.array(running), 'The longest first.'),
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
    webhooks: described(v.array(webhook), 'The newest first.'),
  }),
  Webhook: v.object({ webhook, events: v.array(webhookEvent) }),
  Replayed: v.object({
    webhook: uuid,
    replayed: v.boolean(),
    was: v.picklist(['delivered', 'abandoned']),
  }),
  Reruns: v.object({
    repeated: described(count, 'On this page, as all counts.'),
    unfinished: count,
    cancelled: count,
    outputs: described(
      v.object({ same: count, differs: count, not_known: count }),
      'Of those where nothing was expected; not_known: a part of one was kept, or one failed.',
    ),
    changes: described(v.array(rerun), 'Those whose verdict or output differs.'),
    next: described(v.nullable(uuid), 'Give it as after; null: that was all.'),
  }),
  Verify: verifySchema,
  VerifyStep: v.object({
    events: count,
    drift: count,
    broken_chain: count,
    invariant: count,
    suspects: v.array(uuid),
    next: described(v.nullable(uuid), 'Give it as after; null: that was all.'),
    share: described(
      v.nullable(v.number()),
      'Of the log’s time that is behind it, 0 to 1; null: not known.',
    ),
    busy: described(v.boolean(), 'Another walk took its step: try again in a second.'),
  }),
  BulkStep: v.object({
    action: v.picklist(bulkActions),
    until: described(time, 'What came later is left. Give it with the next step.'),
    count: described(
      count,
      'So many were changed; with dry_run so many would be, of those this step looked at.',
    ),
    skipped: described(
      v.object({ done: count, purged: count, not_offered: count }),
      'Of a rerun, what fits and is not repeated: the campaign has done so, its code is gone, no worker has its languages.',
    ),
    next: described(v.nullable(uuid), 'Give it as after: there may be more. null: that was all.'),
    busy: described(v.boolean(), 'It stopped for want of room: go on from next in a second.'),
  }),
  CommandedWorker: v.object({
    id: uuid,
    host: v.string(),
    state: seenWorker.entries.state,
    wanted: seenWorker.entries.wanted,
    changed: described(
      v.boolean(),
      'false: it was so already, or it drains or restarts, and nothing was written.',
    ),
  }),
  Series: v.object({
    ...seriesSchema.entries,
    points: v.array(
      v.object({
        ...seriesSchema.entries.points.item.entries,
        refused: described(count, 'By the answering process.'),
      }),
    ),
  }),
  Overview: v.object({
    ...overviewSchema.entries,
    refusals: described(
      v.object({ seconds, counts: v.record(v.string(), count) }),
      'What the answering process refused of late, by error code.',
    ),
    read_only: described(v.boolean(), 'The key may look, and change nothing.'),
  }),
}
