// The operators' part of the OpenAPI document's operations.
import type { wantedBy } from '#operator'
import type { Operations } from '../openapi-operation.ts'

const commandSummaries: Readonly<Record<keyof typeof wantedBy, string>> = {
  pause: 'Let a worker finish its submissions and take no more until it is resumed',
  drain: 'Let a worker finish its submissions and end',
  restart:
    'Let a worker finish its submissions and start again in place, with the languages that it then finds',
  resume: 'Let a paused worker take submissions again',
}

export const operatorOperations: Operations = {
  'GET /api/operator/overview': {
    operationId: 'readOverview',
    summary: 'See the whole service at a glance',
    description:
      'For operators’ keys. The age of the oldest waiting submission, the waiting and running submissions, the results of the last minutes, the workers, the busiest accounts, and the latest findings in the ledger. Requests within the same second get the same answer.',
    answers: { 200: { description: 'The current state of the service.', schema: 'Overview' } },
  },
  'GET /api/operator/series': {
    operationId: 'readSeries',
    summary: 'See the figures of the last three hours',
    description:
      'For operators’ keys. A point for each two minutes: the submissions that arrived and ended, those that failed through the service’s own fault, those that waited and for how long, and the requests that the answering process refused. For a busy service only a share of the time is sampled, and counts are estimates. Requests within the same ten seconds get the same answer.',
    answers: { 200: { description: 'The last three hours.', schema: 'Series' } },
  },
  'GET /api/operator/find': {
    operationId: 'find',
    summary: 'Look up a submission, an account or a key',
    description:
      'For operators’ keys. For an account with exactly this name the answer also has its keys and newest submissions. At most 20 of each.',
    parameters: ['q'],
    answers: {
      200: { description: 'The matches; empty lists when there are none.', schema: 'Found' },
    },
  },
  'GET /api/operator/workers': {
    operationId: 'listWorkers',
    summary: 'List the workers',
    description:
      'For operators’ keys. The oldest first, with workers that are silent but not declared lost yet.',
    parameters: ['gone'],
    answers: { 200: { description: 'The workers.', schema: 'Workers' } },
  },
  'GET /api/operator/running': {
    operationId: 'listRunning',
    summary: 'List the running submissions',
    description: 'For operators’ keys.',
    answers: { 200: { description: 'The running submissions.', schema: 'Running' } },
  },
  'GET /api/operator/webhooks': {
    operationId: 'listWebhooks',
    summary: 'List webhooks',
    description: 'For operators’ keys. A page with fewer webhooks than limit is the last one.',
    parameters: ['state', 'before', 'limit'],
    answers: { 200: { description: 'A page of webhooks.', schema: 'Webhooks' } },
  },
  'GET /api/operator/webhooks/{id}': {
    operationId: 'readWebhook',
    summary: 'See a webhook and its attempts',
    description: 'For operators’ keys.',
    parameters: ['webhook'],
    answers: { 200: { description: 'The webhook and its events.', schema: 'Webhook' } },
  },
  'POST /api/operator/webhooks/{id}/replay': {
    operationId: 'replayWebhook',
    summary: 'Send a delivered or abandoned webhook again',
    description:
      'For operators’ keys that are not read-only. The schedule of attempts starts again. The body gives the secret, because the earlier one was deleted when delivery ended.',
    parameters: ['webhook'],
    // There is no example, because the call must name a webhook that exists.
    body: { schema: 'Replay', examples: {} },
    answers: { 200: { description: 'The webhook is due.', schema: 'Replayed' } },
    problems: [409, 410],
  },
  'GET /api/operator/reruns': {
    operationId: 'listReruns',
    summary: 'See the results of a campaign’s reruns',
    description:
      'For operators’ keys. A page covers a thousand reruns, in the order of the first submissions.',
    parameters: ['campaign', 'after', 'account'],
    answers: { 200: { description: 'A page of the campaign.', schema: 'Reruns' } },
    problems: [404],
  },
  'POST /api/operator/bulk': {
    operationId: 'actInBulk',
    summary: 'Cancel, rerun or replay what matches a filter, a step at a time',
    description:
      'For operators’ keys that are not read-only. With dry_run the call counts and changes nothing. Otherwise it takes one step: up to a hundred items, for at most a second. Call it again with next as after, and with the same until, until next is null. Each change is an event with the key that requested it. cancel ends waiting and running submissions. rerun repeats submissions that have ended: each once under one campaign, with priority low, ten at a time unless at_once says otherwise, and while half of the queue is free. replay sends delivered or abandoned webhooks again, of one account, because the secret must be given again. It skips webhooks that were sent again since until, so that a step may be repeated.',
    body: {
      schema: 'Bulk',
      examples: {
        count: {
          summary: 'How many would be cancelled',
          value: { action: 'cancel', filter: { tag: 'week 12' }, dry_run: true },
        },
      },
    },
    answers: { 200: { description: 'What the step did.', schema: 'BulkStep' } },
  },
  'POST /api/operator/verify': {
    operationId: 'verifyLedger',
    summary: 'Verify the whole ledger, a step at a time',
    description:
      'For operators’ keys that are not read-only, because it loads the database. Each step checks about a thousand events by audit.drift, audit.broken_chain and audit.invariant; call it again with next as after until next is null. Only one verification takes a step at a time. `runledger audit verify` also checks bodies against their hashes.',
    body: { schema: 'Verify', examples: { begin: { summary: 'The first step', value: {} } } },
    answers: { 200: { description: 'What the step found.', schema: 'VerifyStep' } },
  },
  ...Object.fromEntries(
    Object.entries(commandSummaries).map(([word, summary]) => [
      `POST /api/operator/workers/{id}/${word}`,
      {
        operationId: `${word}Worker`,
        summary,
        description:
          'For operators’ keys that are not read-only. The command is stored in the worker’s row, and as an event with the key that gave it. The worker obeys it at its next heartbeat, or when it is back. The body is not read.',
        parameters: ['worker'],
        answers: { 200: { description: 'The state of the worker.', schema: 'CommandedWorker' } },
      },
    ]),
  ),
}
