// What all facts of the operators' view share: one service, one browser, a tab for each fact. CONSOLE (a regular expression for
// the title) selects.
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import t from 'tap'
import type { Test } from 'tap'
import { createTestDatabase } from '../helper/database.ts'
import { issueOperatorKey } from '../helper/operator.ts'
import { startWebProcess } from '../helper/web.ts'
import { startWorkerProcess } from '../helper/worker.ts'
import { describeTab, enter, startBrowser } from './service.ts'
import type { Tab } from './service.ts'

const wanted = new RegExp(process.env['CONSOLE'] ?? '', 'i')
t.setTimeout(10 * 60_000)

const { sql, url, drop } = await createTestDatabase()
export { sql }
t.teardown(drop)
let web = await startWebProcess(t, url)
const { port } = web
await startWorkerProcess(t, url)
export const origin = `http://127.0.0.1:${port}`
const browser = await startBrowser(t, origin)

/** A fact about a tab of its own, in which nothing may be complained of. */
export function fact(
  title: string,
  prove: (t: Test, tab: Tab, key: string) => Promise<void>,
  { readOnly = false, ...options }: BrowserContextOptions & { readOnly?: boolean } = {},
): void {
  if (!wanted.test(title)) {
    // Without any test of its own the file would not end.
    void t.test(title, { skip: true }, () => {})
    return
  }
  void t.test(title, async (t) => {
    const tab = await browser.open(options)
    tab.page.setDefaultTimeout(60_000)
    const { key } = await issueOperatorKey(sql, { readOnly })
    try {
      await prove(t, tab, key)
    } catch (error) {
      t.comment(await describeTab(tab))
      throw error
    } finally {
      t.strictSame(tab.complaints, [], 'no error, no breach of the policy, no request elsewhere')
      t.notOk(tab.requests.some((one) => one.includes(key)), 'the key is in no address') // prettier-ignore
      await tab.page.close()
    }
  })
}

/** Kills the web process. */
export async function goAway(): Promise<void> {
  const ended = new Promise((done) => web.child.once('exit', done))
  web.child.kill('SIGKILL')
  await ended
}

/** Starts another one, where it was. */
export async function comeBack(): Promise<void> {
  web = await startWebProcess(t, url, { PORT: String(port) })
}

export const oldest = (page: Page): Locator => page.locator('.oldest')

/** How often it asked for the whole service. */
export const looks = ({ requests }: Tab): number =>
  requests.filter((one) => one.endsWith('/api/operator/overview')).length

/** Enters, and waits until nothing waits. */
export async function enterIdle(page: Page, key: string): Promise<void> {
  await enter(page, origin, key)
  await oldest(page).filter({ hasText: 'none' }).waitFor()
}
