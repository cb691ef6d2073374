// What all facts of the console share: one service, one browser, a tab for each fact, and the parts of a page. CONSOLE (a
// regular expression for the title) selects.
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import t from 'tap'
import { awaitLanguages, defineFact, startBrowser, startService, write } from './service.ts'
import type { Fact } from './service.ts'

export const root = resolve(import.meta.dirname, '../..')
const patience = 60_000

export const service = await startService(t)
const browser = await startBrowser(t, service.origin)
export const { origin } = service

/** Declares a fact with a new tab and a new key. */
export function fact(
  title: string,
  prove: Fact['prove'],
  options: BrowserContextOptions = {},
): void {
  const borrow: Fact['borrow'] = async () => {
    const key = await service.issue()
    return { key, giveBack: () => takeBack(key) }
  }
  defineFact({ title, open: () => browser.open(options), borrow, prove })
}

/** Calls the service's API directly, without the page. @returns the answer's JSON. */
// eslint-disable-next-line typescript/no-explicit-any -- a test looks into it as it likes
export async function ask(method: string, path: string, key: string, body?: object): Promise<any> {
  const response = await fetch(`${origin}${path}`, {
    method,
    headers: { 'X-API-Key': key, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return response.json()
}

export async function submit(key: string, body: object): Promise<string> {
  const { id } = (await ask('POST', '/api/submit', key, {
    language: 'python',
    ...body,
  })) as Accepted
  return id
}

interface Accepted {
  readonly id: string
}

/** Waits until the condition holds. @throws when that takes too long. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const from = performance.now(); !(await isSo()); await setTimeout(50))
    if (performance.now() - from > patience) throw new Error('it has not come to be so')
}

/** Cancels what a fact has left under way, because it would occupy the slots that other facts need. */
export async function takeBack(key: string): Promise<void> {
  for (const status of ['queued', 'running']) {
    const page = (await ask('GET', `/api/submissions?status=${status}`, key)) as {
      submissions?: readonly Accepted[]
    }
    for (const { id } of page.submissions ?? []) await ask('POST', `/api/result/${id}/cancel`, key)
  }
}

/** Python that runs until it is stopped. */
export const endless = 'import time\ntime.sleep(300)\n'
export const endlessLimits = { wall_time: 300 }

/** Lets programs of the playground run that long. */
export async function allowTime(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Options' }).click()
  await page.getByLabel('Time, s', { exact: true }).fill(String(endlessLimits.wall_time))
  await page.getByRole('tab', { name: 'Code' }).click()
}

/** Waits until the service has accepted the submission; before that it cannot be stopped. */
export const awaitAccepted = (page: Page): Promise<void> =>
  page.getByRole('link', { name: /^Submission / }).waitFor()
/** Waits until the list shows so many submissions. */
export const awaitShown = (page: Page, count: number): Promise<void> =>
  page
    .getByRole('status')
    .filter({ hasText: `${count} shown` })
    .waitFor({ state: 'attached' })
export const stopButton = (page: Page): Locator =>
  page.getByRole('button', { name: 'Stop', exact: true })
export const outcome = (page: Page): Locator =>
  page.getByRole('region', { name: 'Result', exact: true })
export const stdout = (page: Page): Locator =>
  page.getByRole('region', { name: 'stdout', exact: true })
/** Runs the code in the playground. */
export async function start(page: Page): Promise<void> {
  await awaitLanguages(page)
  await page.keyboard.press('Control+Enter')
}
export const showsVerdict = (page: Page, word: string): Promise<void> =>
  outcome(page).locator('.badge', { hasText: word }).first().waitFor()

export async function addTest(
  page: Page,
  number: number,
  input: string,
  expected: string,
): Promise<void> {
  await page.getByRole('button', { name: 'Add a test' }).click()
  const test = page.getByRole('group', { name: `Test ${number}` })
  await test.getByLabel('Input').fill(input)
  await test.getByLabel('Expected output').fill(expected)
}

const doubling = 'n = int(input())\nprint("double:", 7 if n == 3 else 2 * n)\n'

export async function runTests(page: Page): Promise<void> {
  await write(page, doubling)
  await page.getByRole('tab', { name: 'Tests' }).click()
  await addTest(page, 1, '1', 'double: 2')
  await addTest(page, 2, '3', 'double: 6')
  await addTest(page, 3, '10', 'double: 20')
  await start(page)
  // Each test shows its verdict while the others still run.
  await outcome(page).getByText('Its output is not what was expected.').first().waitFor()
}
