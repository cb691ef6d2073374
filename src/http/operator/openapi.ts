// The operations of operators, in prose.
import type { Operation } from '../openapi-operation.ts'
import { orderWords } from './order.ts'
import type { OrderWord } from './order.ts'

const orderSummaries: Readonly<Record<OrderWord, string>> = {
  pause: 'Let a worker finish what it has and take nothing until it is resumed',
  drain: 'Let a worker finish what it has and end',
  resume: 'Let a worker that was paused take work again',
}

export const operatorOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/operator/overview',
    operationId: 'readOverview',
    summary: 'See the whole service at one look',
    description:
      'For operators’ keys. The age of what has waited longest, what waits and runs, how submissions ended in the last minutes, workers, the busiest accounts, and what was last found in the ledger. Who looks within the same second is given the same answer.',
    answers: { 200: { description: 'The service as it stands.', schema: 'Overview' } },
    authenticated: true,
  },
  ...orderWords.map((word): Operation => ({
    method: 'post',
    path: `/api/operator/workers/{id}/${word}`,
    operationId: `${word}Worker`,
    summary: orderSummaries[word],
    description:
      'For operators’ keys that may change something. The order stands in the worker’s row and is an event with the key that gave it; the worker heeds it at its next heartbeat, or when it is back. The body is not read.',
    parameters: ['worker'],
    answers: { 200: { description: 'How it stands.', schema: 'SteeredWorker' } },
    problems: [404],
    authenticated: true,
  })),
]
