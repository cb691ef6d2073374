// The routes of operators, in reading order.
import type { HttpDependencies, Route } from '../http.ts'
import { forOperators, forSteering } from './access.ts'
import { actInBulk } from './bulk.ts'
import { commandWords, giveCommand } from './command.ts'
import { tellOverview } from './overview.ts'
import type { Refusals } from './refusal.ts'
import { tellSeries } from './series.ts'
import { verifyLedger } from './verify.ts'

export function operatorRoutes(
  dependencies: Pick<HttpDependencies, 'database' | 'queueCapacity'>,
  refusals: Refusals,
): readonly Route[] {
  return [
    ['GET', '/api/operator/overview', forOperators(tellOverview(dependencies, refusals))],
    ['GET', '/api/operator/series', forOperators(tellSeries(dependencies, refusals))],
    ['POST', '/api/operator/bulk', forSteering(actInBulk(dependencies))],
    ['POST', '/api/operator/verify', forSteering(verifyLedger(dependencies))],
    ...commandWords.map(
      (word) =>
        [
          'POST',
          `/api/operator/workers/:id/${word}`,
          forSteering(giveCommand(dependencies, word)),
        ] as const,
    ),
  ]
}
