// The console in a real browser over a whole service, as its users have it: every view, in light, dark and on a narrow
// screen. CONSOLE (a regular expression for the title) selects. Not run by `make test`, as it needs Chromium:
// `make test-console`. With PICTURES=1 it renews the picture of the README.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { BrowserContextOptions, Page } from 'playwright-core'
import t from 'tap'
import type { Test } from 'tap'
import { enter, startBrowser, startService, write } from './service.ts'
import type { Tab } from './service.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const wanted = new RegExp(process.env['CONSOLE'] ?? '', 'i')
t.setTimeout(15 * 60_000)
const patience = 60_000

const service = await startService(t)
const browser = await startBrowser(t, service.origin)
const { origin } = service

const looks: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  narrow: { colorScheme: 'light', viewport: { width: 360, height: 740 } },
}

/** A fact about a tab of its own, in which nothing may be complained of. */
function fact(
  title: string,
  prove: (t: Test, tab: Tab, key: string) => Promise<void>,
  options: BrowserContextOptions = {},
): void {
  if (!wanted.test(title)) return
  void t.test(title, async (t) => {
    const tab = await browser.open(options)
    tab.page.setDefaultTimeout(patience)
    const key = await service.issue()
    try {
      await prove(t, tab, key)
    } finally {
      t.strictSame(tab.complaints, [], 'no error, no breach of the policy, no request elsewhere')
      t.notOk(
        tab.requests.some((url) => url.includes(key)),
        'the key is in no address',
      )
      await tab.page.close()
    }
  })
}

const outcome = (page: Page) => page.getByRole('region', { name: 'Result', exact: true })
const stdout = (page: Page) => page.getByRole('region', { name: 'stdout', exact: true })
const start = (page: Page) => page.keyboard.press('Control+Enter')
const showsVerdict = (page: Page, word: string) =>
  outcome(page).locator('.badge', { hasText: word }).first().waitFor()

async function addTest(page: Page, number: number, input: string, expected: string) {
  await page.getByRole('button', { name: 'Add a test' }).click()
  const test = page.getByRole('group', { name: `Test ${number}` })
  await test.getByLabel('Input').fill(input)
  await test.getByLabel('Expected output').fill(expected)
}

const doubling = 'n = int(input())\nprint("double:", 7 if n == 3 else 2 * n)\n'

async function runTests(page: Page): Promise<void> {
  await write(page, doubling)
  await page.getByRole('tab', { name: 'Tests' }).click()
  await addTest(page, 1, '1', 'double: 2')
  await addTest(page, 2, '3', 'double: 6')
  await addTest(page, 3, '10', 'double: 20')
  await start(page)
  await showsVerdict(page, 'Wrong answer')
}

fact(
  'the example of a language runs by Ctrl-Enter, and a reload shows it again',
  async (t, tab, key) => {
    const { page } = tab
    await enter(page, origin, key)
    await page.getByRole('combobox', { name: 'Language' }).selectOption({ label: 'Python' })
    await start(page)
    await showsVerdict(page, 'Accepted')
    t.equal(await stdout(page).textContent(), 'Hello, world!\n')
    t.match(await outcome(page).textContent(), /CPU time.* of 5 s.*Memory.* of 256 MiB/)
    await page.reload()
    await showsVerdict(page, 'Accepted')
    t.equal(await stdout(page).textContent(), 'Hello, world!\n')
  },
)

fact('the Run button is pressed by keyboard alone', async (t, { page }, key) => {
  await page.goto(origin)
  // The link to the content, the two views, and the field of the key.
  for (let presses = 0; presses < 4; presses += 1) await page.keyboard.press('Tab')
  await page.keyboard.type(key)
  await page.keyboard.press('Enter')
  const editor = page.getByRole('textbox', { name: 'Code' })
  await editor.filter({ hasText: 'Hello' }).waitFor()
  const isOn = (name: string) =>
    page.getByRole('button', { name, exact: true }).evaluate((one) => one.matches(':focus'))
  for (let presses = 0; !(await isOn('Run')) && presses < 30; presses += 1) {
    // Out of the editor, where Tab is a character.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
  }
  t.ok(await isOn('Run'))
  await page.keyboard.press('Enter')
  await showsVerdict(page, 'Accepted')
})

fact('a compile error shows the compiler’s words', async (t, { page }, key) => {
  await enter(page, origin, key)
  await page.getByRole('combobox', { name: 'Language' }).selectOption({ label: 'C++' })
  await write(page, 'int main() { retrun 0; }')
  await start(page)
  await showsVerdict(page, 'Compile error')
  t.match(await page.getByRole('region', { name: 'Compiler' }).textContent(), /retrun/)
})

fact('each test has its verdict, and a wrong one its difference', async (t, { page }, key) => {
  await enter(page, origin, key)
  await runTests(page)
  t.match(await outcome(page).textContent(), /Test 2 decided.*2 of 3 passed/)
  const difference = page.getByRole('region', { name: 'Difference in line 1' })
  t.match(await difference.textContent(), /Expecteddouble: 6Gotdouble: 7/)
  await page.getByRole('button', { name: 'Show the output of test 3' }).click()
  t.equal(await page.getByRole('region', { name: 'stdout of 3' }).textContent(), 'double: 20\n')
  await page.getByRole('link', { name: /^Submission / }).click()
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  const timeline = await page.getByRole('list').last().textContent()
  t.match(timeline, /Received.*Waited.*Attempt 1.*Test 1 Accepted.*Test 2 Wrong answer.*Test 3/)
})

fact('input, arguments, files and limits reach the program', async (t, { page }, key) => {
  await enter(page, origin, key)
  await write(page, 'import sys\nprint(sys.argv[1:], input(), open("data.txt").read())')
  await page.getByRole('tab', { name: 'Input' }).click()
  await page.getByLabel('Standard input').fill('from stdin')
  await page.getByRole('tab', { name: 'Files' }).click()
  await page.getByRole('button', { name: 'Add a file' }).click()
  await page.getByLabel('Name').fill('data.txt')
  await page.getByLabel('Content').fill('from a file')
  await page.getByRole('tab', { name: 'Options' }).click()
  await page.getByLabel('Arguments', { exact: true }).fill('one\ntwo words')
  await page.getByLabel('CPU time, s').fill('3')
  await page.getByLabel('Tag').fill('a tag')
  await start(page)
  await showsVerdict(page, 'Accepted')
  t.equal(await stdout(page).textContent(), "['one', 'two words'] from stdin from a file\n")
  t.match(await outcome(page).textContent(), / of 3 s/)
  await page.getByLabel('CPU time, s').fill('0')
  await start(page)
  await page.getByRole('alert').filter({ hasText: 'limits.cpu_time' }).waitFor()
})

fact(
  'an endless program is stopped, and one that passes its limit says which',
  async (t, { page }, key) => {
    await enter(page, origin, key)
    await write(page, 'while True: pass')
    await start(page)
    await page.getByRole('button', { name: 'Stop' }).click()
    await showsVerdict(page, 'Stopped')
    await page.getByRole('tab', { name: 'Options' }).click()
    await page.getByLabel('CPU time, s').fill('0.2')
    await start(page)
    await showsVerdict(page, 'Time limit exceeded')
    t.match(await outcome(page).textContent(), /more CPU time than its limit/)
  },
)

fact(
  'filters stand in the address: back, forward and reload keep them',
  async (t, { page }, key) => {
    await enter(page, origin, key)
    await start(page)
    await showsVerdict(page, 'Accepted')
    await write(page, 'raise SystemExit(3)')
    await start(page)
    await showsVerdict(page, 'Runtime error')
    await page.getByRole('link', { name: 'Submissions' }).click()
    const rows = page.getByRole('row').filter({ has: page.getByRole('rowheader') })
    const has = (count: number) =>
      page
        .getByRole('status')
        .filter({ hasText: `${count} shown` })
        .waitFor({ state: 'attached' })
    await has(2)
    await page.getByLabel('Verdict').selectOption({ label: 'Runtime error' })
    await has(1)
    t.match(page.url(), /#\/submissions\?verdict=RE$/)
    t.match(await rows.textContent(), /Runtime error/)
    await page.reload()
    await has(1)
    t.equal(await page.getByLabel('Verdict').inputValue(), 'RE')
    await page.goBack()
    await has(2)
    t.equal(await page.getByLabel('Verdict').inputValue(), '')
    await page.goForward()
    await has(1)
    await page.goBack()
    await page.goBack()
    // The draft and the last run are as they were.
    await showsVerdict(page, 'Runtime error')
    t.match(await page.getByRole('textbox', { name: 'Code' }).textContent(), /SystemExit/)
  },
)

fact(
  'a key that is revoked meanwhile is asked for anew, and the draft stays',
  async (t, { page }, key) => {
    await enter(page, origin, key)
    await write(page, 'print("kept")')
    await service.revoke(key)
    await start(page)
    await page.getByRole('alert').filter({ hasText: 'not valid' }).waitFor()
    t.equal(await page.evaluate("sessionStorage.getItem('runledger.key')"), null)
    await page.getByRole('textbox', { name: 'API key' }).fill('schlüssel')
    await page.getByRole('button', { name: 'Use it' }).click()
    await page.getByRole('alert').filter({ hasText: 'This cannot be a key.' }).waitFor()
    await page.getByRole('textbox', { name: 'API key' }).fill('rl_live_wrong')
    await page.getByRole('button', { name: 'Use it' }).click()
    await page.getByRole('alert').filter({ hasText: 'This API key is not valid.' }).waitFor()
    await page.getByRole('textbox', { name: 'API key' }).fill(await service.issue())
    await page.getByRole('button', { name: 'Use it' }).click()
    await page.getByRole('button', { name: 'Forget key' }).waitFor()
    await start(page)
    await showsVerdict(page, 'Accepted')
    t.equal(await stdout(page).textContent(), 'kept\n')
  },
)

fact(
  'a service that goes away is told of, and what was sent meanwhile runs when it is back',
  async (t, { page }, key) => {
    await enter(page, origin, key)
    await write(page, 'print("once")')
    await service.goAway()
    await start(page)
    await page.getByText('The service cannot be reached. Trying again…').waitFor()
    await service.comeBack()
    await showsVerdict(page, 'Accepted')
    t.equal(await page.getByText('cannot be reached').count(), 0)
    await page.getByRole('link', { name: 'Submissions' }).click()
    await page.getByRole('status').filter({ hasText: '1 shown' }).waitFor({ state: 'attached' })
  },
)

fact(
  'what a program writes is text: markup, escapes and hidden characters are seen, not obeyed',
  async (t, { page }, key) => {
    await enter(page, origin, key)
    const hostile = [
      '<script>document.title = "owned"</script><img src=x onerror="document.title = \'owned\'">',
      '</pre><b>bold</b>',
      '\u001b[31mred\u001b[0m \u202egnp.exe\u202c \u200bzero\u0007',
    ].join('\n')
    await write(page, `print(${JSON.stringify(hostile)})`)
    await start(page)
    await showsVerdict(page, 'Accepted')
    const shown = await stdout(page).textContent()
    t.match(shown, '<script>document.title')
    t.match(shown, '\\x1b[31mred\\x1b[0m \\u202egnp.exe\\u202c \\u200bzero\\x07')
    t.equal(await stdout(page).locator('script, img, b').count(), 0)
    t.equal(await page.title(), 'Playground · Runledger')
    await write(page, 'print("x" * 1_000_000, end="")')
    await start(page)
    await page.getByText('900,000 more characters are not shown').waitFor()
    const width = await page.evaluate('document.documentElement.scrollWidth <= innerWidth')
    t.equal(width, true, 'a long line stays in its place')
  },
)

fact('another account’s submission, and none at all, are not found', async (t, { page }, key) => {
  const other = await service.issue()
  await enter(page, origin, other)
  await start(page)
  await showsVerdict(page, 'Accepted')
  const link = await page.getByRole('link', { name: /^Submission / }).getAttribute('href')
  await page.getByRole('button', { name: 'Forget key' }).click()
  await enter(page, origin, key, link ?? '')
  await page.getByRole('heading', { name: 'There is no such submission' }).waitFor()
  await page.goto(`${origin}/#/submission/018f0000-0000-7000-8000-000000000000`)
  await page.getByRole('heading', { name: 'There is no such submission' }).waitFor()
  t.notMatch(await page.textContent('main'), /Hello/)
})

fact('a request is copied as what runs elsewhere, without the key', async (t, { page }, key) => {
  await enter(page, origin, key)
  await write(page, 'print("it\'s", "a \\\\ backslash", "ü", True)\n')
  await page.getByRole('button', { name: 'Copy as…' }).click()
  const commands = {
    curl: ['sh', ['-c']],
    Python: ['python3', ['-c']],
    TypeScript: [process.execPath, ['--input-type=module-typescript', '-e']],
  } as const
  for (const [name, [program, words]] of Object.entries(commands)) {
    await page.getByRole('tab', { name, exact: true }).click()
    const text =
      (await page.getByRole('region', { name: `Request in ${name}` }).textContent()) ?? ''
    t.notMatch(text, key)
    const env = { PATH: process.env['PATH'], RUNLEDGER_API_KEY: key }
    const { stdout } = await run(program, [...words, text], { env })
    t.match(stdout, String.raw`it's a \\ backslash ü True`, name)
  }
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

/** All that axe knows of but its advice. */
async function findFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const found = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as {
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[]
  }
  return found.violations.map(
    ({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)} ${nodes[0]?.failureSummary}`,
  )
}

for (const [look, options] of Object.entries(looks)) {
  fact(
    `everybody can use each view, ${look}`,
    async (t, { page }, key) => {
      const judge = async (view: string) => {
        t.strictSame(await findFaults(page), [], view)
        const fits = await page.evaluate('document.documentElement.scrollWidth <= innerWidth')
        t.equal(fits, true, `${view} fits its width`)
        if (process.env['PICTURES'] === '1' && view === 'run' && look === 'light') {
          const path = join(root, 'src/console/picture/playground.png')
          await page.screenshot({ path })
        }
      }
      await page.goto(origin)
      await page.getByRole('textbox', { name: 'API key' }).waitFor()
      await judge('without a key')
      await enter(page, origin, key)
      await runTests(page)
      await judge('tests')
      for (const name of ['Input', 'Files', 'Options']) {
        await page.getByRole('tab', { name }).click()
        await judge(name)
      }
      await page.getByRole('tab', { name: 'Code' }).click()
      await page.mouse.move(0, 0)
      await judge('run')
      await page.getByRole('button', { name: 'Copy as…' }).click()
      await judge('copy as')
      await page.keyboard.press('Escape')
      await page.getByRole('link', { name: /^Submission / }).click()
      await page.getByRole('heading', { name: 'Timeline' }).waitFor()
      await judge('submission')
      await page.getByRole('link', { name: 'Submissions' }).click()
      await page.getByRole('status').filter({ hasText: '1 shown' }).waitFor({ state: 'attached' })
      await judge('submissions')
      await page.goto(`${origin}/#/submission/nothing`)
      await page.getByRole('heading', { name: 'There is no such submission' }).waitFor()
      await judge('not found')
    },
    options,
  )
}

fact('the first view is at most 200 kB as it is sent', async (t, { page }, key) => {
  let bytes = 0
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
  await enter(page, origin, key)
  await start(page)
  await showsVerdict(page, 'Accepted')
  t.comment(`${bytes} bytes`)
  t.ok(bytes > 10_000)
  t.ok(bytes <= 200_000, `${bytes} bytes`)
})
