// The list of an account's submissions, and that no other account sees it.
import { enter, write } from '../service.ts'
import {
  ask,
  awaitShown,
  fact,
  origin,
  service,
  showsVerdict,
  start,
  submit,
  until,
} from '../suite.ts'

fact('filters stand in the address; back and reload keep them', async (t, { page }, key) => {
  await enter(page, origin, key)
  await start(page)
  await showsVerdict(page, 'Finished')
  await write(page, 'raise SystemExit(3)')
  await start(page)
  await showsVerdict(page, 'Runtime error')
  await page.getByRole('link', { name: 'Submissions' }).click()
  const rows = page.getByRole('row').filter({ has: page.getByRole('rowheader') })
  await awaitShown(page, 2)
  await page.getByLabel('Verdict').selectOption({ label: 'Runtime error' })
  await awaitShown(page, 1)
  t.match(page.url(), /#\/submissions\?verdict=RE$/)
  t.match(await rows.textContent(), /Runtime error/)
  await page.reload()
  await awaitShown(page, 1)
  t.equal(await page.getByLabel('Verdict').inputValue(), 'RE')
  await page.goBack()
  await awaitShown(page, 2)
  t.equal(await page.getByLabel('Verdict').inputValue(), '')
  await page.goForward()
  await awaitShown(page, 1)
  await page.goBack()
  await page.goBack()
  // The draft and the last run are unchanged.
  await showsVerdict(page, 'Runtime error')
  t.match(await page.getByRole('textbox', { name: 'Code' }).textContent(), /SystemExit/)
})

fact('a program is known by its first line, and a day by its date', async (t, { page }, key) => {
  await submit(key, { code: '# the first line\nprint(1)', expected_stdout: '1' })
  await submit(key, { code: 'print("second")' })
  await until(
    async () =>
    (await ask('GET', '/api/submissions', key)).submissions.every(({ verdict }: { verdict: string }) => verdict === 'AC'), // prettier-ignore
  )
  await enter(page, origin, key, '#/submissions')
  const row = (text: string) => page.getByRole('row').filter({ hasText: text })
  await row('# the first line').getByText('Accepted').waitFor()
  await row('print("second")').getByText('Finished').waitFor()
  await row('print("second")').getByText('Python', { exact: true }).waitFor()
  const today = await page.evaluate<string>(
    'new Date(Date.now() - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 10)',
  )
  const day = page.getByLabel('Day')
  await day.fill('2020-01-01')
  await awaitShown(page, 0)
  t.match(page.url(), /day=2020-01-01/)
  await day.fill(today)
  await awaitShown(page, 2)
})

fact('another account’s submission, and none at all, are not found', async (t, { page }, key) => {
  const other = await service.issue()
  await enter(page, origin, other)
  await start(page)
  await showsVerdict(page, 'Finished')
  const link = await page.getByRole('link', { name: /^Submission / }).getAttribute('href')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await enter(page, origin, key, link ?? '')
  await page.getByRole('heading', { name: 'There is no such submission' }).waitFor()
  await page.goto(`${origin}/#/submission/018f0000-0000-7000-8000-000000000000`)
  await page.getByRole('heading', { name: 'There is no such submission' }).waitFor()
  t.notMatch(await page.textContent('main'), /Hello/)
})
