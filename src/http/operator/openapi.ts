// The operations of operators, in prose.
import type { Operation } from '../openapi-operation.ts'

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
]
