// A submission's page: its timeline with hashes, its rerun, its receipt.
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { purgeBodies } from '#result'
import { enter, write } from '../service.ts'
import { ask, fact, origin, root, service, start, submit, until } from '../suite.ts'

const run = promisify(execFile)
const besides = (page: Page) => page.getByRole('region', { name: 'Compared with the first run' })
const again = (page: Page) => page.getByRole('button', { name: 'Run again' })
const receiptButton = (page: Page) => page.getByRole('button', { name: 'Save receipt' })

/** Waits until the page shows that submission, because the address changes before the page does. */
const awaitRecord = (page: Page, id: string) =>
  page
    .getByRole('region', { name: 'Record', includeHidden: true })
    .filter({ hasText: `"id": "${id}"` })
    .waitFor({ state: 'attached' })

/** Presses "Run again". @returns the rerun's id, once its page is shown. */
async function rerun(page: Page): Promise<string> {
  const before = page.url()
  await again(page).click()
  await page.waitForURL((url) => url.href !== before)
  const id = readId(page)
  await awaitRecord(page, id)
  return id
}

const readId = (page: Page): string => page.url().split('/').at(-1) ?? ''

/** Runs code in the playground and opens the page of its submission. @returns its id. */
async function runAndOpen(page: Page, code: string): Promise<string> {
  await write(page, code)
  await start(page)
  await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
  await page.getByRole('link', { name: /^Submission / }).click()
  await again(page).waitFor()
  return readId(page)
}

fact('a rerun is a submission of its own, beside the first', async (t, { page }, key) => {
  await enter(page, origin, key)
  const first = await runAndOpen(page, 'print("the same")')
  await again(page).focus()
  await page.keyboard.press('Enter')
  await besides(page).getByText('Same result as the first run.').waitFor()
  t.equal(await page.evaluate('document.activeElement.id'), 'main', 'who hears it is led there')
  t.not(readId(page), first)
  const figures = await besides(page).getByRole('table').textContent()
  t.match(figures, /OutcomeFinishedFinished.*Runtime.*CPU time.*Memory/)
  await page.getByRole('link', { name: first }).click()
  await awaitRecord(page, first)
  t.equal(await besides(page).count(), 0)
})

fact('what was submitted is read again, and opened', async (t, { page }, key) => {
  const id = await submit(key, {
    code: 'print("<b>of mine</b>", input())',
    stdin: 'a line',
    tag: 'kept',
    limits: { cpu_time: 2 },
    output_encoding: 'utf8',
  })
  await enter(page, origin, key, `#/submission/${id}`)
  const received = page.getByRole('region', { name: 'What was submitted' })
  const text = (name: string) => received.getByRole('region', { name, exact: true }).textContent()
  t.equal(await text('Code'), 'print("<b>of mine</b>", input())')
  t.equal(await text('Input'), 'a line')
  await until(async () => (await page.title()) === 'Python, Finished · Runledger')
  await received.getByRole('button', { name: 'Open in playground' }).click()
  await page.getByRole('textbox', { name: 'Code' }).filter({ hasText: 'of mine' }).waitFor()
  t.equal(await page.getByLabel('Input', { exact: true }).inputValue(), 'a line')
  await page.getByRole('tab', { name: 'Options' }).click()
  t.equal(await page.getByLabel('CPU time, s').inputValue(), '2')
  t.equal(await page.getByLabel('Tag').inputValue(), 'kept')
  await until(async () => (await ask('GET', `/api/result/${id}`, key)).status === 'completed')
  await purgeBodies(service.database.sql, 0)
  await page.goto(`${origin}/#/submission/${id}`)
  await page.getByText('What was submitted was removed after the retention period.').waitFor()
  t.equal(await received.count(), 0)
})

fact('a rerun shows where it went otherwise', async (t, { page }, key) => {
  await enter(page, origin, key)
  await runAndOpen(page, 'import os\nprint("alike")\nprint("by chance", os.urandom(8).hex())')
  await again(page).click()
  await besides(page).getByText('1 difference: stdout.').waitFor()
  const difference = besides(page).getByRole('region', { name: 'Difference in line 2 of stdout' })
  t.match(await difference.textContent(), /stdout, line 2Firstby chance \w{16}Nowby chance \w{16}/)
  // A rerun of a rerun is also compared with the first run.
  const first = await besides(page).getByRole('link', { name: 'the first' }).getAttribute('href')
  await rerun(page)
  await besides(page).getByText('1 difference').waitFor()
  t.equal(await besides(page).getByRole('link', { name: 'the first' }).getAttribute('href'), first)
})

fact('a rerun with another verdict says so', async (t, { page }, key) => {
  await enter(page, origin, key)
  await runAndOpen(page, 'import os, sys\nsys.exit(os.urandom(1)[0] % 2)')
  const status = besides(page).getByRole('status')
  // Each rerun has another verdict in one of two cases.
  for (let tries = 0, said = ''; !said.startsWith('2 differences'); tries += 1) {
    if (tries === 40) throw new Error('it is always the same')
    await rerun(page)
    said = (await status.textContent()) ?? ''
  }
  t.match(await status.textContent(), '2 differences: Outcome, Ended with.')
  const rows = besides(page).locator('tr.differs')
  t.match(
    await rows.first().textContent(),
    /^Outcome(FinishedRuntime error|Runtime errorFinished)differs$/,
  )
  t.match(await rows.last().textContent(), /^Ended with(exit code [01]){2}differs$/)
})

fact('why there is no rerun is said', async (t, { page }, key) => {
  await enter(page, origin, key)
  const id = await runAndOpen(page, 'print(1)')
  const message = 'The submission has not ended yet: wait for it, or cancel it.'
  // The page shows only ended submissions as ended, so the test invents this answer.
  await page.route('**/rerun', (route) => route.fulfill({ status: 409, json: { error: 'not_final', message } })) // prettier-ignore
  await again(page).click()
  await page.getByRole('alert').filter({ hasText: message }).waitFor()
  await page.unroute('**/rerun')
  await purgeBodies(service.database.sql, 0)
  await again(page).click()
  await page
    .getByRole('alert')
    .filter({ hasText: 'were removed, after the retention period' })
    .waitFor()
  t.match(page.url(), new RegExp(`${id}$`))
})

fact('a receipt is saved, and the command line finds it true', async (t, { page }, key) => {
  await enter(page, origin, key)
  const id = await runAndOpen(page, 'print(1)')
  const saving = page.waitForEvent('download')
  await receiptButton(page).click()
  const download = await saving
  const name = `receipt-${id}.json`
  t.equal(download.suggestedFilename(), name)
  const folder = t.testdir()
  const file = join(folder, name)
  await download.saveAs(file)
  await page.getByText(`runledger audit receipt ${name}`).waitFor()
  const savingKey = page.waitForEvent('download')
  await page.getByRole('link', { name: 'public key' }).click()
  const keyFile = join(folder, 'receipt-key.pem')
  await (await savingKey).saveAs(keyFile)
  const audit = async (receipt: string) =>
    run('./runledger', ['audit', 'receipt', receipt, '--public-key', keyFile, '--ledger'], {
      cwd: root,
      env: { PATH: process.env['PATH'], DATABASE_URL: service.database.url },
    }).catch(({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }))
  const { stdout: said } = await audit(file)
  t.match(said, new RegExp(id))
  t.match(said, /It is unchanged since key \w+ signed it/)
  t.match(said, /events are in the ledger, and their hashes fit/)
  const { payload, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as { payload: string }
  const told = JSON.parse(atob(payload)) as { events: { hash: string }[] }
  const shown = await page.locator('.timeline .hash').allTextContents()
  t.strictSame(
    shown,
    told.events.map(({ hash }) => hash.slice(0, 12)),
  )
  const other = join(folder, 'other.json')
  writeFileSync(
    other,
    JSON.stringify({ ...rest, payload: btoa(atob(payload).replace('"AC"', '"WA"')) }),
  )
  t.match(await audit(other), { code: 1, stdout: /WAS CHANGED/ })
})

fact('a service that signs nothing offers no receipt', async (t, { page }, key) => {
  await service.goAway()
  await service.comeBack({})
  try {
    await enter(page, origin, key)
    const asked = page.waitForResponse((response) => response.url().endsWith('/receipt-key'))
    await runAndOpen(page, 'print(1)')
    t.equal((await asked).status(), 404)
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()
    t.equal(await receiptButton(page).count(), 0)
  } finally {
    await service.goAway()
    await service.comeBack()
  }
})

fact('what is of low priority is sent so', async (t, { page }, key) => {
  await enter(page, origin, key)
  await page.getByRole('tab', { name: 'Options' }).click()
  await page.getByLabel('Low priority').check()
  await page.getByRole('tab', { name: 'Code' }).click()
  const id = await runAndOpen(page, 'print(1)')
  const { events } = await ask('GET', `/api/result/${id}/events`, key)
  t.match(events[0], { type: 'submission.received', data: { priority: 'low' } })
  const normal = await submit(key, { code: '' })
  const { events: others } = await ask('GET', `/api/result/${normal}/events`, key)
  t.not(others[0].data.priority, 'low')
})

fact('attempts to send a webhook stand in the timeline', async (t, { page }, key) => {
  const id = await submit(key, {
    code: 'print(1)',
    webhook_url: 'https://receiver.invalid/hook',
    webhook_secret: 'whsec_c2VjcmV0LW9mLXRoZS1yZWNlaXZlcg==',
  })
  await until(
    async () => (await ask('GET', `/api/result/${id}`, key)).webhook.state === 'abandoned',
  )
  await enter(page, origin, key, `#/submission/${id}`)
  const timeline = page.locator('.timeline')
  await timeline.getByText('Webhook abandoned').waitFor()
  t.match(
    await timeline.textContent(),
    /Finished.*Webhook, attempt 1.*Webhook, attempt 2.*Webhook abandoned/,
  )
})
