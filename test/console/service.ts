// A whole service to look at: web, worker and PostgreSQL, as a user runs them, and the browser.
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import t from 'tap'
import type { Test } from 'tap'
import { createAdmit, revokeKey } from '#account'
import { openTestDatabase } from '../helper/database.ts'
import type { TestDatabase } from '../helper/database.ts'
import { createCaller } from '../helper/submission.ts'
import { startWebProcess } from '../helper/web.ts'
import { startWorkerProcess } from '../helper/worker.ts'

/** A web process that goes away and comes back at the same address. */
export interface Web {
  readonly origin: string
  /** Kills the web process. */
  readonly goAway: () => Promise<void>
  /** Starts another web process on the same port. @param environment replaces the usual one. */
  readonly comeBack: (environment?: Readonly<Record<string, string>>) => Promise<void>
}

export async function startWeb(
  t: Test,
  databaseUrl: string,
  usual: Readonly<Record<string, string>> = {},
): Promise<Web> {
  let web = await startWebProcess(t, databaseUrl, usual)
  const { port } = web
  return {
    origin: `http://127.0.0.1:${port}`,
    async goAway() {
      const ended = new Promise((done) => web.child.once('exit', done))
      web.child.kill('SIGKILL')
      await ended
    },
    async comeBack(environment = usual) {
      web = await startWebProcess(t, databaseUrl, { ...environment, PORT: String(port) })
    },
  }
}

export interface ConsoleService extends Web {
  readonly database: Omit<TestDatabase, 'drop'>
  /** Creates a new account and returns its key, in the tier `unlimited` by default. */
  readonly issue: (tier?: string) => Promise<string>
  readonly revoke: (key: string) => Promise<void>
}

export async function startService(t: Test): Promise<ConsoleService> {
  const database = await openTestDatabase(t)
  const receiptKey = generateKeyPairSync('ed25519').privateKey
  const RECEIPT_KEY = receiptKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  const web = await startWeb(t, database.url, { RECEIPT_KEY })
  await startWorkerProcess(t, database.url, { WEBHOOK_SCHEDULE_SECONDS: '0.1' })
  return {
    ...web,
    database,
    issue: async (tier) => (await createCaller(database.sql, tier)).key,
    async revoke(key) {
      const caller = await createAdmit(database.sql)(key)
      await revokeKey(database.sql, caller?.apiKeyId ?? '', 'test')
    },
  }
}

/** Browser switches that prevent requests to anything other than the page's service. */
const switches = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A browser tab. It must never have an error, a violation of its policy, or a request to another origin. */
export interface Tab {
  readonly page: Page
  /** The complaints of all its pages so far, in words. */
  readonly complaints: readonly string[]
  /** The requests that the tab made. */
  readonly requests: readonly string[]
}

export interface Browser {
  /** Opens a tab in a browser context that shares nothing with other tabs. */
  readonly open: (options?: BrowserContextOptions) => Promise<Tab>
}

/** Starts Debian's Chromium with a new profile; it ends with the test. */
export async function startBrowser(t: Test, origin: string): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), 'runledger-browser-'))
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: [...switches, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
    env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder },
  })
  t.teardown(async () => {
    await browser.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    async open(options = {}) {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        reducedMotion: 'reduce',
        ...options,
      })
      t.teardown(() => context.close())
      return watchTab(context, origin)
    },
  }
}

async function watchTab(context: BrowserContext, origin: string): Promise<Tab> {
  const complaints: string[] = []
  const requests: string[] = []
  const page = await context.newPage()
  page.on('request', (request) => {
    const url = request.url()
    requests.push(url)
    if (!url.startsWith(`${origin}/`) && !url.startsWith('blob:'))
      complaints.push(`asked for ${url}`)
  })
  page.on('pageerror', (error) => complaints.push(`failed: ${error.message}`))
  page.on('console', (message) => {
    // The browser reports every unsuccessful answer and every failed connection, even an intended one.
    const isAnswer = message.text().startsWith('Failed to load resource:')
    if (['error', 'warning'].includes(message.type()) && !isAnswer)
      complaints.push(`${message.type()}: ${message.text()}`)
  })
  await context.exposeFunction('tellBreach', (text: string) => complaints.push(`breach: ${text}`))
  await context.addInitScript(`document.addEventListener('securitypolicyviolation', (event) => {
    tellBreach(event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample)
  })`)
  return { page, complaints, requests }
}

/** A fact about the console, and its proof. */
export interface Fact {
  readonly title: string
  readonly open: () => Promise<Tab>
  /** Returns a key for this fact only, and a function that cleans up after it. */
  readonly borrow: () => Promise<{ readonly key: string; readonly giveBack?: () => Promise<void> }>
  readonly prove: (t: Test, tab: Tab, key: string) => Promise<void>
}

const wanted = new RegExp(process.env['CONSOLE'] ?? '', 'i')

/** Proves a fact in a new tab, in which no complaint may occur. CONSOLE (a regular expression for the title) selects. */
export function defineFact({ title, open, borrow, prove }: Fact): void {
  // A skipped fact is still declared, because the file would not end without any test.
  void t.test(title, { skip: !wanted.test(title) }, async (t) => {
    const tab = await open()
    tab.page.setDefaultTimeout(60_000)
    const { key, giveBack } = await borrow()
    try {
      await prove(t, tab, key)
    } catch (error) {
      t.comment(await describeTab(tab))
      throw error
    } finally {
      t.strictSame(tab.complaints, [], 'no error, no breach of the policy, no request elsewhere')
      t.notOk(
        tab.requests.some((url) => url.includes(key)),
        'the key is in no address',
      )
      await tab.page.close()
      await giveBack?.()
    }
  })
}

/** Describes what was visible, and the last requests, when a fact failed. */
export async function describeTab({ page, requests }: Tab): Promise<string> {
  const text = await page
    .locator('body')
    .innerText({ timeout: 5000 })
    .catch((error: unknown) => String(error))
  return [page.url(), text, ...requests.slice(-10)].join('\n')
}

/** Opens the page and enters a key, as a user does. */
export async function enter(page: Page, origin: string, key: string, hash = ''): Promise<void> {
  await page.goto(`${origin}/${hash}`)
  await page.getByRole('textbox', { name: 'API key' }).fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

/** Hides the page, or shows it again. */
export async function turn(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate(`Object.defineProperty(document, 'visibilityState', {
      configurable: true, get: () => '${state}' })
    document.dispatchEvent(new Event('visibilitychange'))`)
}

/** Waits for the languages. Until they are loaded, the page fills an empty editor with an example. */
export async function awaitLanguages(page: Page): Promise<void> {
  await page.locator('.runtime', { hasText: /\w/ }).waitFor({ state: 'attached' })
}

/** Replaces the code. */
export async function write(page: Page, code: string): Promise<void> {
  await awaitLanguages(page)
  const editor = page.getByRole('textbox', { name: 'Code' })
  await editor.click()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await page.keyboard.insertText(code)
}
