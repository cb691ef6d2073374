// The operators' part of the OpenAPI document's operations.
import type { wantedBy } from '#operator'
import type { Operations } from '../openapi-operation.ts'

const commandSummaries: Readonly<Record<keyof typeof wantedBy, string>> = {
  pause: 'Let a worker finish what it has and take nothing until it is resumed',
  drain: 'Let a worker finish what it has and end',
  restart: 'Let a worker finish what it has and start again in place, with the languages of then',
  resume: 'Let a worker that was paused take work again',
}

export const operatorOperations: Operations = {
  'GET /api/operator/overview': {
    operationId: 'readOverview',
    summary: 'See the whole service at one look',
    description:
      'For operators’ keys. The age of what has waited longest, what waits and runs, how submissions ended in the last minutes, workers, the busiest accounts, and what was last found in the ledger. Who looks within the same second is given the same answer.',
    answers: { 200: { description: 'The service as it stands.', schema: 'Overview' } },
  },
  'GET /api/operator/series': {
    operationId: 'readSeries',
    summary: 'See how the last three hours went',
    description:
      'For operators’ keys. A point for each two minutes: what came and ended, what failed by the service’s own fault, what waited and for how long, and what the answering process refused. Of a busy service a share of the time is looked at, and counts are estimates. Who looks within the same ten seconds is given the same answer.',
    answers: { 200: { description: 'The last three hours.', schema: 'Series' } },
  },
  'GET /api/operator/find': {
    operationId: 'find',
    summary: 'Look up a submission, an account or a key',
    description:
      'For operators’ keys. Of an account that has exactly this name also the keys and the newest submissions. At most 20 of each.',
    parameters: ['q'],
    answers: { 200: { description: 'What was found; empty lists: nothing.', schema: 'Found' } },
  },
  'GET /api/operator/workers': {
    operationId: 'listWorkers',
    summary: 'List the workers',
    description: 'For operators’ keys. The oldest first, with those just lost.',
    parameters: ['gone'],
    answers: { 200: { description: 'The workers.', schema: 'Workers' } },
  },
  'GET /api/operator/running': {
    operationId: 'listRunning',
    summary: 'List what runs',
    description: 'For operators’ keys.',
    answers: { 200: { description: 'The submissions that run.', schema: 'Running' } },
  },
  'GET /api/operator/webhooks': {
    operationId: 'listWebhooks',
    summary: 'List webhooks',
    description: 'For operators’ keys. A page of fewer than limit is the last one.',
    parameters: ['state', 'before', 'limit'],
    answers: { 200: { description: 'A page of them.', schema: 'Webhooks' } },
  },
  'GET /api/operator/webhooks/{id}': {
    operationId: 'readWebhook',
    summary: 'See a webhook and its attempts',
    description: 'For operators’ keys.',
    parameters: ['webhook'],
    answers: { 200: { description: 'It and its events.', schema: 'Webhook' } },
  },
  'POST /api/operator/webhooks/{id}/replay': {
    operationId: 'replayWebhook',
    summary: 'Send a webhook again that was delivered or given up',
    description:
      'For operators’ keys that may change something. Its schedule begins anew; its secret was deleted when it ended, so it is given anew.',
    parameters: ['webhook'],
    // There is no example, because the call must name a webhook that exists.
    body: { schema: 'Replay', examples: {} },
    answers: { 200: { description: 'It is due.', schema: 'Replayed' } },
    problems: [409, 410],
  },
  'GET /api/operator/reruns': {
    operationId: 'listReruns',
    summary: 'See how the reruns of a campaign ended',
    description:
      'For operators’ keys. A page looks at a thousand, in the order of the first submissions.',
    parameters: ['campaign', 'after', 'account'],
    answers: { 200: { description: 'A page of the campaign.', schema: 'Reruns' } },
    problems: [404],
  },
  'POST /api/operator/bulk': {
    operationId: 'actInBulk',
    summary: 'Cancel, run again or send again what fits a filter, a step at a time',
    description:
      'For operators’ keys that may change something. With dry_run it counts and changes nothing. Without, one step: up to a hundred, for at most a second; call it again with next as after, and the same until, until next is null. Each that is changed has an event with the key that asked. cancel takes what waits or runs. rerun repeats what has ended, each once under one campaign, low, ten at a time unless at_once says otherwise, and while half of the queue is free. replay sends webhooks again that were delivered or given up: of one account, as the secret must be given anew; what was sent again since until is passed over, so a step may be repeated.',
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
      'For operators’ keys that may change something, as it costs. Each step holds about a thousand events against audit.drift, audit.broken_chain and audit.invariant; call it again with next as after until next is null. One walk steps at a time. Bodies are held against their hashes by `runledger audit verify`.',
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
          'For operators’ keys that may change something. The command stands in the worker’s row and is an event with the key that gave it; the worker heeds it at its next heartbeat, or when it is back. The body is not read.',
        parameters: ['worker'],
        answers: { 200: { description: 'How it stands.', schema: 'CommandedWorker' } },
      },
    ]),
  ),
}
