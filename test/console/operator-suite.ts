// What all facts of the operators' view share: one service, one browser, and a tab for each fact. CONSOLE (a regular
// expression for the title) selects.
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import t from 'tap'
import { openTestDatabase } from '../helper/database.ts'
import { issueOperatorKey } from '../helper/operator.ts'
import { startWorkerProcess } from '../helper/worker.ts'
import { defineFact, enter, startBrowser, startWeb } from './service.ts'
import type { Fact, Tab } from './service.ts'

const { sql, url } = await openTestDatabase(t)
export { sql }
export const web = await startWeb(t, url)
export const { origin } = web
await startWorkerProcess(t, url)
const browser = await startBrowser(t, origin)

/** Declares a fact with a new tab and an operator's key. */
export function fact(
  title: string,
  prove: Fact['prove'],
  { readOnly = false, ...options }: BrowserContextOptions & { readOnly?: boolean } = {},
): void {
  const borrow: Fact['borrow'] = () => issueOperatorKey(sql, { readOnly })
  defineFact({ title, open: () => browser.open(options), borrow, prove })
}

export const oldest = (page: Page): Locator => page.locator('.oldest')

/** Returns how often the tab requested the overview of the service. */
export const looks = ({ requests }: Tab): number =>
  requests.filter((one) => one.endsWith('/api/operator/overview')).length

/** Signs in, and waits until no submission waits. */
export async function enterIdle(page: Page, key: string): Promise<void> {
  await enter(page, origin, key)
  await oldest(page).filter({ hasText: 'none' }).waitFor()
}
