// The routes of operators, in reading order.
import type { HttpDependencies, Route } from '../http.ts'
import { forOperators, forSteering } from './access.ts'
import { actInBulk } from './bulk.ts'
import { commandWords, giveCommand } from './command.ts'
import {
  findAny,
  replayWebhook,
  sendReruns,
  sendRunning,
  sendWebhook,
  sendWebhooks,
  sendWorkers,
} from './list.ts'
import { answerOverview, answerSeries } from './overview.ts'
import type { Refusals } from './refusal.ts'
import { verifyLedger } from './verify.ts'

export function operatorRoutes(
  dependencies: Pick<HttpDependencies, 'database' | 'queueCapacity'>,
  refusals: Refusals,
): readonly Route[] {
  return [
    ['GET', '/api/operator/overview', forOperators(answerOverview(dependencies, refusals))],
    ['GET', '/api/operator/series', forOperators(answerSeries(dependencies, refusals))],
    ['GET', '/api/operator/find', forOperators(findAny(dependencies))],
    ['GET', '/api/operator/workers', forOperators(sendWorkers(dependencies))],
    ['GET', '/api/operator/running', forOperators(sendRunning(dependencies))],
    ['GET', '/api/operator/webhooks', forOperators(sendWebhooks(dependencies))],
    ['GET', '/api/operator/webhooks/:id', forOperators(sendWebhook(dependencies))],
    ['POST', '/api/operator/webhooks/:id/replay', forSteering(replayWebhook(dependencies))],
    ['GET', '/api/operator/reruns', forOperators(sendReruns(dependencies))],
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
