// What all facts of the operators' view share: one service, one browser, and a tab for each fact. CONSOLE (a regular
// expression for the title) selects.
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import t from 'tap'
import { openTestDatabase } from '../helper/database.ts'
import { issueOperatorKey } from '../helper/operator.ts'
import { startWebProcess } from '../helper/web.ts'
import { startWorkerProcess } from '../helper/worker.ts'
import { defineFact, enter, startBrowser } from './service.ts'
import type { Fact, Tab } from './service.ts'

const { sql, url } = await openTestDatabase(t)
export { sql }
let web = await startWebProcess(t, url)
const { port } = web
await startWorkerProcess(t, url)
export const origin = `http://127.0.0.1:${port}`
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

/** Kills the web process. */
export async function goAway(): Promise<void> {
  const ended = new Promise((done) => web.child.once('exit', done))
  web.child.kill('SIGKILL')
  await ended
}

/** Starts another web process on the same port. */
export async function comeBack(): Promise<void> {
  web = await startWebProcess(t, url, { PORT: String(port) })
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
