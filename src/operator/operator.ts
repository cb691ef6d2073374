// The door to what operators see and do: one look at the whole service, and (order.ts, bulk.ts) what changes it.
export { bulkActions, countBulk, takeBulkStep } from './bulk.ts'
export type { BulkAction, BulkFilter, BulkOrder, BulkStep } from './bulk.ts'
export { campaignNameMost, capCampaign } from './campaign.ts'
export { verifyStep } from './verify.ts'
export type { VerifyStep } from './verify.ts'
export { steerWorker } from './order.ts'
export type { SteeredWorker } from './order.ts'
export { createOverviewDesk, readOverview } from './overview.ts'
export type {
  BusyAccount,
  LedgerHealth,
  Overview,
  OverviewDesk,
  RecentEnds,
  SeenWorker,
} from './overview.ts'
