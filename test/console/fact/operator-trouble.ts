// What can keep an operator from the service, how hostile text is shown, and use without a mouse.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { v7 as uuidv7 } from 'uuid'
import { revokeKey } from '#account'
import { issueOperatorKey } from '../../helper/operator.ts'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'
import { enterIdle, fact, looks, origin, sql, web } from '../operator-suite.ts'
import { enter } from '../service.ts'

const ledger = (page: Page) => page.getByRole('heading', { name: 'Ledger' })

fact('a service that goes away is told of, and seen again when it is back', async (t, tab, key) => {
  const { page } = tab
  await enterIdle(page, key)
  await web.goAway()
  await page.getByText('The service cannot be reached. Trying again…').waitFor()
  t.ok(await ledger(page).isVisible(), 'what was seen stays')
  await web.comeBack()
  await page.getByText('cannot be reached').waitFor({ state: 'detached' })
  const before = looks(tab)
  while (looks(tab) < before + 2) await sleep(100)
})

fact('an operator’s key that ends is asked for anew', async (t, { page }) => {
  const { id, key } = await issueOperatorKey(sql)
  await enter(page, origin, key)
  await ledger(page).waitFor()
  await revokeKey(sql, id, 'test')
  // The view polls every few seconds, so it notices the revoked key without any action.
  await page.getByRole('alert').filter({ hasText: 'not valid' }).waitFor()
  t.equal(await page.evaluate("sessionStorage.getItem('runledger.key')"), null)
  t.equal(await ledger(page).count(), 0, 'nothing of it stays to be seen')
  await page.getByRole('textbox', { name: 'API key' }).fill((await issueOperatorKey(sql)).key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await ledger(page).waitFor()
})

fact('a view that cannot be fetched says so', async (t, { page }, key) => {
  await page.route('**/console/overview-*.js', (route) => route.abort())
  await enter(page, origin, key)
  await page.getByRole('alert').filter({ hasText: 'could not be fetched: reload' }).waitFor()
  await page.unroute('**/console/overview-*.js')
  await page.reload()
  await ledger(page).waitFor()
  t.equal(await page.getByRole('alert').count(), 0)
})

fact('what a worker says of itself is text, wherever it stands', async (t, { page }, key) => {
  const id = uuidv7()
  const hostile = '<b>host</b>\u001b[31m\u202egnp.exe'
  await sql`select runledger.register_worker(${id}, ${hostile}, 1, 1, '{}', 600)`
  await sql`select runledger.renew_worker(${id}, '{}', ${`<script>document.title = "owned"</script>${hostile}`})`
  const row = page.getByRole('row').filter({ hasText: 'suspended' })
  try {
    await enter(page, origin, key)
    await row.waitFor()
    t.match(await row.textContent(), '<b>host</b>\\x1b[31m\\u202egnp.exe')
    t.match(await row.textContent(), /since \d\d:\d\d <script>document.title/)
    t.equal(await row.locator('b, script').count(), 0)
    let asked = ''
    page.once('dialog', (dialog) => {
      asked = dialog.message()
      void dialog.dismiss()
    })
    await row.getByRole('button', { name: /^Drain / }).click()
    t.match(asked, 'Drain <b>host</b>\\x1b[31m\\u202egnp.exe 1?')
    const label = await row.getByRole('button').first().getAttribute('aria-label')
    t.notMatch(label, '\u001b')
    t.notMatch(label, '\u202e')
    t.equal(await page.title(), 'Service · Runledger')
  } finally {
    await sql`select runledger.stop_worker(${id})`
  }
  // A view that polls within a second of another one gets that one's data.
  await row.waitFor({ state: 'detached' })
})

fact('a worker is paused and resumed by keyboard alone', async (t, { page }, key) => {
  await page.goto(origin)
  await page.getByRole('textbox', { name: 'API key' }).focus()
  await page.keyboard.type(key)
  await page.keyboard.press('Enter')
  const goTo = async (name: RegExp): Promise<void> => {
    const button = page.getByRole('button', { name })
    await button.waitFor()
    const isOn = () => button.evaluate((one) => one.matches(':focus'))
    for (let presses = 0; !(await isOn()); presses += 1) {
      if (presses === 60) throw new Error(`${name} is not reached`)
      await page.keyboard.press('Tab')
    }
  }
  await goTo(/^Pause /)
  await page.keyboard.press('Space')
  await page.getByText(/heeds it at its next heartbeat/).waitFor()
  await goTo(/^Resume /)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^Pause / }).waitFor()
  t.equal(await page.evaluate('document.body.contains(document.activeElement)'), true)
})

fact('what has ended is run again by a filter, each once', async (t, { page }, key) => {
  const caller = await createCaller(sql)
  for (let n = 0; n < 2; n += 1)
    await submitNew(sql, caller, describeSubmission({ code: 'print(1)' }))
  const [account] = await sql`select name from runledger.account where id = ${caller.accountId}`
  await enterIdle(page, key)
  while ((await sql`select from runledger.pending`).length > 0) await sleep(50)
  const form = page.getByRole('form', { name: 'Bulk actions' })
  await form.getByLabel('Action').selectOption('rerun')
  await form.getByLabel('Account').fill(String(account?.['name']))
  for (const done of [2, 0]) {
    await form.getByRole('button', { name: 'Count' }).click()
    const act = form.getByRole('button', { name: 'Run 2 submissions again' })
    if (done === 0) {
      await page.getByText(/^0 submissions match\.$/).waitFor()
      t.equal(await act.count(), 0)
      continue
    }
    await act.click()
    await page.getByText('Queued 2 submissions again.').waitFor()
  }
  const rows =
    await sql`select from runledger.submission where account_id = ${caller.accountId} and rerun_of is not null`
  t.equal(rows.length, 2)
})
