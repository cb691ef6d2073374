// What an operator sees of the service, and does to it.
import { setTimeout as sleep } from 'node:timers/promises'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'
import { enterIdle, fact, looks, oldest, origin, sql } from '../operator-suite.ts'
import { enter, turn } from '../service.ts'

fact('an operator sees the service, oldest first, and nothing else', async (t, { page }, key) => {
  await enter(page, origin, key)
  await page.getByRole('heading', { name: 'Service' }).waitFor()
  t.match(await page.locator('dl.figures > div').first().textContent(), /^Oldest waitingnone/)
  t.equal(await page.getByRole('navigation', { name: 'Views' }).textContent(), 'Service')
  const worker = page.getByRole('region', { name: 'Workers' }).getByRole('row').nth(1)
  t.match(await worker.textContent(), /working.*0 of \d.* ago/)
  await page.reload()
  await page.getByRole('heading', { name: 'Ledger' }).waitFor()
})

fact('the last hours stand in charts, which are read out, too', async (t, tab, key) => {
  const { page } = tab
  await submitNew(sql, await createCaller(sql), describeSubmission({ code: 'print(1)' }))
  const from = performance.now()
  const first = page.waitForResponse('**/api/operator/series')
  await enterIdle(page, key)
  const hours = page.getByRole('region', { name: 'Last 3 h' })
  const throughput = hours.getByRole('img', {
    name: /^received: [\d.]+\/s of late, at most .* ended:/,
  })
  await throughput.waitFor()
  t.equal(await hours.getByRole('img').count(), 4)
  await hours.getByRole('img', { name: /^waited: / }).waitFor()
  // Answers with the same data from now on, so that the chart does not change during the checks.
  const body = await (await first).text()
  await page.route('**/api/operator/series', (route) => route.fulfill({ body, contentType: 'application/json' })) // prettier-ignore
  t.match(await throughput.locator('path').first().getAttribute('d'), /^M0 70L/)
  const figure = hours.getByRole('figure').first()
  const latest = await figure.textContent()
  await throughput.hover({ position: { x: 1, y: 20 } })
  t.match(await figure.textContent(), /received 0\/sended 0\/s/, 'three hours ago nothing was')
  await page.mouse.move(0, 0)
  t.equal(await figure.textContent(), latest)
  const asked = tab.requests.filter((one) => one.endsWith('/api/operator/series')).length
  t.ok(asked <= 1 + (performance.now() - from) / 15_000, `asked ${asked} times`)
})

fact('a process of the release before has no charts, and all else', async (t, { page }, key) => {
  await page.route('**/api/operator/series', (route) =>
    route.fulfill({ status: 404, json: { error: 'not_found', message: 'No.' } }),
  )
  await enter(page, origin, key)
  await page.getByRole('heading', { name: 'Ledger' }).waitFor()
  t.equal(await page.getByRole('img').count(), 0)
  t.equal(await page.getByRole('alert').count(), 0)
})

fact('a worker is drained only by who is sure', async (t, { page }, key) => {
  await enter(page, origin, key)
  let asked = ''
  page.once('dialog', (dialog) => {
    asked = dialog.message()
    void dialog.dismiss()
  })
  await page.getByRole('button', { name: /^Drain / }).click()
  t.match(asked, /^Drain .*It finishes its programs and ends/)
  t.match(await sql`select wanted from runledger.worker where stopped_at is null`, [
    { wanted: 'working' },
  ])
})

fact('a worker is paused, what waits grows old, and is resumed', async (t, { page }, key) => {
  await enter(page, origin, key)
  await page.getByRole('button', { name: /^Pause / }).click()
  await page.getByText(/heeds it at its next heartbeat/).waitFor()
  await page.getByRole('button', { name: /^Resume / }).waitFor()
  const caller = await createCaller(sql, 'beta')
  for (let n = 0; n < 10; n += 1)
    await submitNew(sql, caller, describeSubmission({ code: 'print(1)' }))
  await oldest(page).filter({ hasText: /\d/ }).waitFor()
  const accounts = page.getByRole('region', { name: 'Accounts' })
  await accounts.getByText('10 of 10').waitFor()
  t.match(await accounts.getByText('10 of 10').getAttribute('class'), 'full')
  await page.getByRole('button', { name: /^Resume / }).click()
  await oldest(page).filter({ hasText: 'none' }).waitFor()
  // The submission that was taken last may still be running.
  await page
    .locator('dl.figures')
    .filter({ hasText: /Accepted 1\d/ })
    .waitFor()
})

fact('many are counted, and then cancelled, and only those', async (t, { page }, key) => {
  await enter(page, origin, key)
  await page.getByRole('button', { name: /^Pause / }).click()
  await page.getByRole('button', { name: /^Resume / }).waitFor()
  const [caller, other] = [await createCaller(sql), await createCaller(sql)]
  for (const one of [caller, caller, caller, other])
    await submitNew(sql, one, describeSubmission({ code: 'print(1)' }))
  const [account] = await sql`select name from runledger.account where id = ${caller.accountId}`
  const form = page.getByRole('form', { name: 'Bulk actions' })
  await form.getByLabel('Account').fill(String(account?.['name']))
  await form.getByRole('button', { name: 'Count' }).click()
  await page.getByText('3 submissions match.').waitFor()
  // A submission that arrives after the count is left alone.
  const late = await submitNew(sql, caller, describeSubmission({ code: 'print(1)' }))
  await form.getByRole('button', { name: 'Cancel 3 submissions' }).click()
  await page.getByText('Cancelled 3 submissions.').waitFor()
  const rows =
    await sql`select status from runledger.submission where account_id in (${caller.accountId}, ${other.accountId})`
  t.strictSame(rows.map(({ status }) => status as string).toSorted(), ['cancelled', 'cancelled', 'cancelled', 'queued', 'queued']) // prettier-ignore
  t.match(await sql`select status from runledger.submission where id = ${late}`, [
    { status: 'queued' },
  ])
  await page.getByRole('button', { name: /^Resume / }).click()
  await oldest(page).filter({ hasText: 'none' }).waitFor()
})

fact('what is done is what was counted, and all only by who is sure', async (t, { page }, key) => {
  await enter(page, origin, key)
  await page.getByRole('button', { name: /^Pause / }).click()
  await page.getByRole('button', { name: /^Resume / }).waitFor()
  const ids: string[] = []
  for (let n = 0; n < 2; n += 1)
    ids.push(
      await submitNew(sql, await createCaller(sql), describeSubmission({ code: 'print(1)' })),
    )
  const form = page.getByRole('form', { name: 'Bulk actions' })
  const countButton = form.getByRole('button', { name: 'Count' })
  const act = form.getByRole('button', { name: /^Cancel \d/ })
  await countButton.click()
  await act.waitFor()
  await form.getByLabel('Account').fill('somebody else')
  t.equal(await act.count(), 0, 'a changed filter wants a new count')
  const held = Promise.withResolvers<void>()
  await page.route('**/api/operator/bulk', async (route) => {
    await held.promise
    await route.continue().catch(() => {}) // the page does not wait for the answer any more
  })
  await form.getByLabel('Account').fill('')
  await countButton.click()
  await form.getByLabel('Account').fill('another')
  await form.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
  held.resolve()
  await page.unroute('**/api/operator/bulk')
  t.equal(await act.count(), 0, 'nor does the count that was under way count for it')
  await form.getByLabel('Account').fill('')
  await form.getByLabel('Hours back').fill('1e300')
  await countButton.click()
  await page.getByText(/^Hours back is a number/).waitFor()
  await form.getByLabel('Hours back').fill('2')
  await countButton.click()
  let asked = ''
  page.once('dialog', (dialog) => {
    asked = dialog.message()
    void dialog.dismiss()
  })
  await act.click()
  t.match(asked, /^Cancel \d+ submissions, of every account\?$/)
  const rows = await sql`select status from runledger.submission where id = any (${ids})`
  t.strictSame(rows.map(({ status }) => status as string), ['queued', 'queued']) // prettier-ignore
  await page.getByRole('button', { name: /^Resume / }).click()
  await oldest(page).filter({ hasText: 'none' }).waitFor()
})

fact('webhooks that were given up are chosen, unless another is', async (t, { page }, key) => {
  await enter(page, origin, key)
  const form = page.getByRole('form', { name: 'Bulk actions' })
  await form.getByLabel('Action').selectOption('replay')
  await form.getByLabel('Account').fill('nobody')
  const bodies: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/bulk')) bodies.push(request.postData() ?? '')
  })
  await form.getByRole('button', { name: 'Count' }).click()
  await page.getByText('0 submissions match.').waitFor()
  await form.getByLabel('Delivery').selectOption('')
  await form.getByRole('button', { name: 'Count' }).click()
  await page.getByText('0 submissions match.').waitFor()
  t.match(bodies[0], '"webhook":"abandoned"')
  t.notMatch(bodies[1], 'webhook":')
})

fact('after a look that failed the page looks again', async (t, { page }, key) => {
  await enter(page, origin, key)
  await page.getByRole('heading', { name: 'Ledger' }).waitFor()
  await page.route('**/api/operator/overview', (route) =>
    route.fulfill({ status: 422, json: { error: 'odd', message: 'Odd.' } }),
  )
  await page.getByText('Odd.').waitFor()
  await page.unroute('**/api/operator/overview')
  await page.getByText('Odd.').waitFor({ state: 'detached' })
  t.pass()
})

fact('the ledger is verified, all of it', async (t, { page }, key) => {
  await enter(page, origin, key)
  await page.getByRole('button', { name: 'Verify now' }).click()
  await page.getByText(/^Whole ledger: [\d,]+ events, no findings\.$/).waitFor()
  t.equal(await page.getByRole('button', { name: 'Verify now' }).count(), 1)
})

fact(
  'who only looks is offered nothing to change',
  async (t, { page }, key) => {
    await enter(page, origin, key)
    await page.getByRole('heading', { name: 'Accounts' }).waitFor()
    const buttons = page.getByRole('main').getByRole('button')
    t.strictSame(await buttons.allTextContents(), ['Look up'])
    t.equal(await page.getByRole('form').count(), 0)
  },
  { readOnly: true },
)

fact('a page that nobody can see asks nothing', async (t, tab, key) => {
  const { page } = tab
  await enter(page, origin, key)
  while (looks(tab) < 3) await sleep(100)
  await turn(page, 'hidden')
  await sleep(1000) // by now the browser has reported a request of before
  const before = looks(tab)
  await sleep(3500)
  t.equal(looks(tab), before)
  await turn(page, 'visible')
  while (looks(tab) < before + 2) await sleep(100)
})

fact('whose key is no operator’s fetches nothing of this view', async (t, tab) => {
  const { page, requests } = tab
  const { key } = await createCaller(sql)
  await enter(page, origin, key)
  await page.getByRole('textbox', { name: 'Code' }).waitFor()
  t.notOk(requests.some((one) => one.includes('operator') || one.includes('overview')))
  await page.goto(`${origin}/#/service`)
  await page.getByText('This view is for operators’ keys').waitFor()
  t.equal(looks(tab), 0)
})
