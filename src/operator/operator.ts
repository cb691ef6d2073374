// The entry to the operator module: the overview of the whole service, lists, commands to workers, and bulk actions (bulk.ts).
export { bulkActions, campaignNameMost, countBulk, replayDelivery, takeBulkStep } from './bulk.ts'
export type { BulkRequest } from './bulk.ts'
export { commandWorker, wantedBy } from '#command'
export {
  find,
  hasAccount,
  listRunning,
  listWebhooks,
  listWorkers,
  readReruns,
  readWebhook,
} from './list.ts'
export {
  createCachedOverview,
  overviewSchema,
  readOverview,
  seenWorker,
  states,
} from './overview.ts'
export { createCachedSeries, seriesSchema } from './series.ts'
export type { Series } from './series.ts'
