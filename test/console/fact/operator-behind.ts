// What an operator can look up, and the lists behind the figures.
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'
import { fact, origin, sql } from '../operator-suite.ts'
import { enter } from '../service.ts'

fact('a submission leads to its account, and that to its keys', async (t, { page }, key) => {
  const caller = await createCaller(sql)
  const id = await submitNew(sql, caller, describeSubmission({ code: 'print(1)' }))
  const [row] = await sql`select name from runledger.account where id = ${caller.accountId}`
  const account = String(row?.['name'])
  await sql`update runledger.api_key set name = 'nightly' where account_id = ${caller.accountId}`
  await enter(page, origin, key)
  const field = page.getByLabel('Submission, account or key')
  await field.fill(id)
  await page.keyboard.press('Enter')
  const found = page.getByRole('region', { name: 'Look up' })
  await found.getByRole('rowheader', { name: id }).waitFor()
  await found.getByRole('link', { name: account }).click()
  await found.getByRole('heading', { name: account }).waitFor()
  const label = found.getByRole('link', { name: caller.key.slice(0, 12) }).first()
  await label.waitFor()
  t.equal(await found.getByRole('table').count(), 3)
  await found.getByRole('cell', { name: 'nightly' }).waitFor()
  await field.fill(caller.key)
  await page.getByRole('button', { name: 'Look up' }).click()
  await found.getByRole('heading', { name: caller.key.slice(0, 12) }).waitFor()
  t.notMatch(page.url(), caller.key, 'of a key the address has what tells it apart')
  await found.getByRole('rowheader', { name: caller.key.slice(0, 12) }).waitFor()
  await page.goBack()
  await found.getByRole('heading', { name: account }).waitFor()
  await field.fill('nobody of that name')
  await page.keyboard.press('Enter')
  await found.getByText('Nothing is called so').waitFor()
  await found.getByRole('link', { name: 'Close' }).click()
  await found.getByText('Nothing is called so').waitFor({ state: 'detached' })
})

fact('text typed as soon as the field is there is looked for', async (t, { page }, key) => {
  await page.addInitScript(`new MutationObserver((_, observer) => {
    const field = document.querySelector('form.look-up input')
    if (field === null) return
    observer.disconnect()
    field.value = 'typed at once'
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }).observe(document, { childList: true, subtree: true })`)
  await enter(page, origin, key)
  const field = page.getByLabel('Submission, account or key')
  await field.press('Enter')
  await page.getByRole('heading', { name: 'typed at once' }).waitFor()
  t.equal(await field.inputValue(), 'typed at once')
})

fact('a figure leads to what it counts', async (t, { page }, key) => {
  const caller = await createCaller(sql)
  await enter(page, origin, key)
  const code = 'import time; time.sleep(100)'
  const limits = { wall_time: 100 }
  const id = await submitNew(sql, caller, describeSubmission({ code, options: { limits } }))
  await sql`update runledger.api_key set name = 'weekly' where account_id = ${caller.accountId}`
  const figure = (name: string) =>
    page.locator('dl.figures > div', { hasText: name }).getByRole('link').first()
  const found = page.getByRole('region', { name: 'Look up' })
  await figure('Running').filter({ hasText: /[1-9]/ }).waitFor()
  await page.locator('#accounts').getByText('weekly').waitFor()
  await figure('Running').click()
  await found.getByRole('heading', { name: 'Submissions that run' }).waitFor()
  await found.getByRole('link', { name: id }).waitFor()
  await figure('Webhooks due').click()
  await found.getByText('None.').waitFor()
  await fetch(`${origin}/api/result/${id}/cancel`, { method: 'POST', headers: { 'X-API-Key': caller.key } }) // prettier-ignore
  await figure('Arrivals per second').click()
  t.match(page.url(), /show=webhooks$/, 'a part of this view is no other address')
  for (const name of ['Ends per second', 'Wait p50 / p95 / p99', 'Run time p50 / p95 / p99'])
    t.equal(await page.getByText(name, { exact: true }).count(), 1, name)
})

fact('a worker that was lost is not one that drained', async (t, { page }, key) => {
  const worker = { id: '018f0000-0000-7000-8000-000000000000', host: 'h', pid: 7, version: '1', started_at: '2030-01-01T00:00:00Z', heartbeat_seconds: 5 } // prettier-ignore
  await page.route('**/api/operator/workers?gone=true', (route) =>
    route.fulfill({
      json: {
        workers: ['working', 'gone', 'lost', 'drained'].map((state, n) => ({
          ...worker,
          id: worker.id.replace(/0$/, String(n)),
          state,
        })),
      },
    }),
  )
  await enter(page, origin, key)
  await page.getByRole('link', { name: 'Workers that ended' }).click()
  const rows = page.getByRole('region', { name: 'Workers that ended in the last day' }).locator('tbody tr') // prettier-ignore
  await rows.first().waitFor()
  t.strictSame(
    await rows.locator('.badge').allTextContents(),
    ['gone: silent', 'lost: given up', 'drained'],
    'who works is none of them',
  )
  t.equal(await rows.locator('.badge.bad').count(), 2)
})

fact(
  'on a narrow screen a row is a card that names its figures',
  async (t, { page }, key) => {
    await enter(page, origin, key)
    const table = page.getByRole('region', { name: 'Workers' }).getByRole('table')
    await table.waitFor()
    const box = page.getByRole('region', { name: 'Workers' }).locator('.scroll')
    t.equal(await box.evaluate((one) => one.scrollWidth <= one.clientWidth), true)
    const cell = table.getByRole('cell').first()
    const head = "getComputedStyle(document.querySelector('.list td'), '::before').content"
    t.equal(await page.evaluate(head), '"State"')
    t.match(await cell.textContent(), /working/)
  },
  { viewport: { width: 360, height: 740 } },
)
