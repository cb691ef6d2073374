// The door to what operators see and do: one look at the whole service, and (order.ts, bulk.ts) what changes it.
export { createOverviewDesk, readOverview } from './overview.ts'
export type {
  BusyAccount,
  LedgerHealth,
  Overview,
  OverviewDesk,
  RecentEnds,
  SeenWorker,
} from './overview.ts'
