// The schemas of answers to operators, for the OpenAPI document.
import * as v from 'valibot'
import { verdicts } from '#event'
import { bulkActions, overviewSchema, seenWorker, seriesSchema, states } from '#operator'
import { resultStatuses, webhookStates } from '#result'
import { count, described, seconds, time, uuid } from '#schema'
import { bulkSchema, replaySchema, verifySchema } from './request-schema.ts'

const webhook = v.object({
  webhook_id: uuid,
  submission_id: described(v.nullable(uuid), "null for a batch's webhook."),
  batch_id: described(v.nullable(uuid), "null for a submission's webhook."),
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
    'Whether stdout, exit code and signal of both are the same, when no output was expected; null when the output was judged.',
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
          'gone: the worker is silent, but not declared lost yet. lost: it was declared lost. drained: it ended by itself.',
        ),
        languages: described(
          v.string(),
          'The versions of its languages, in the order of the languages.',
        ),
      }),
    ),
  }),
  Running: v.object({
    running: described(v.array(running), 'The longest running first.'),
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
    repeated: described(count, 'The number of reruns on this page. All counts are of this page.'),
    unfinished: count,
    cancelled: count,
    outputs: described(
      v.object({ same: count, differs: count, not_known: count }),
      'The outputs of reruns where none was expected. not_known: only a part of one output was kept, or one run failed.',
    ),
    changes: described(v.array(rerun), 'The reruns whose verdict or output differs.'),
    next: described(v.nullable(uuid), 'The after of the next call; null at the end.'),
  }),
  Verify: verifySchema,
  VerifyStep: v.object({
    events: count,
    drift: count,
    broken_chain: count,
    invariant: count,
    suspects: v.array(uuid),
    next: described(v.nullable(uuid), 'The after of the next call; null at the end.'),
    share: described(
      v.nullable(v.number()),
      'The part of the log’s time that is verified, from 0 to 1; null when it is not known.',
    ),
    busy: described(
      v.boolean(),
      'true: another verification took its step; try again in a second.',
    ),
  }),
  BulkStep: v.object({
    action: v.picklist(bulkActions),
    until: described(
      time,
      'Later submissions are left out. Give the same time with the next step.',
    ),
    count: described(
      count,
      'The number of items that were changed; with dry_run, the number that would be changed, of those that this step examined.',
    ),
    skipped: described(
      v.object({ done: count, purged: count, not_offered: count }),
      'For rerun: matching submissions that are not repeated, because the campaign has repeated them (done), their code was removed (purged), or no worker has their languages (not_offered).',
    ),
    next: described(
      v.nullable(uuid),
      'The after of the next step, because there may be more; null at the end.',
    ),
    busy: described(
      v.boolean(),
      'true: the step stopped because the queue or the campaign had no room. Go on from next in a second.',
    ),
  }),
  CommandedWorker: v.object({
    id: uuid,
    host: v.string(),
    state: seenWorker.entries.state,
    wanted: seenWorker.entries.wanted,
    changed: described(
      v.boolean(),
      'false: nothing was written, because the worker was in this state already, or drains or restarts.',
    ),
  }),
  Series: v.object({
    ...seriesSchema.entries,
    points: v.array(
      v.object({
        ...seriesSchema.entries.points.item.entries,
        refused: described(count, 'Requests that the answering process refused.'),
      }),
    ),
  }),
  Overview: v.object({
    ...overviewSchema.entries,
    refusals: described(
      v.object({ seconds, counts: v.record(v.string(), count) }),
      'The requests that the answering process refused recently, by error code.',
    ),
    read_only: described(v.boolean(), 'true: the key may read, and change nothing.'),
  }),
}
