// Drafts are kept in place, and a page that fails says so.
import { enter, write } from '../service.ts'
import { addTest, awaitShown, fact, origin, submit, until } from '../suite.ts'

const draft = `JSON.parse(sessionStorage.getItem('runledger.draft') ?? '{}').code`

fact('a draft is kept when its writer pauses or leaves, not each key', async (t, { page }, key) => {
  // prettier-ignore
  await enter(page, origin, key)
  await page.evaluate(`(() => {
    window.kept = 0
    window.pauses = 0
    let before
    addEventListener('keydown', ({ timeStamp }) => {
      if (timeStamp - before > 200) window.pauses += 1
      before = timeStamp
    }, true)
    const { setItem } = Storage.prototype
    Storage.prototype.setItem = function (name, value) {
      if (name === 'runledger.draft') window.kept += 1
      setItem.call(this, name, value)
    }
  })()`)
  await write(page, '')
  await page.keyboard.type('print("one key after another, and each a change")')
  const [written = 0, pauses = 0] = await page.evaluate<number[]>('[window.kept, window.pauses]')
  // On a slow machine every delay counts as a pause of the writer.
  t.ok(written < 10 + pauses, `written ${written} times in ${pauses} pauses`)
  await until(async () =>
    (await page.evaluate<string>(`${draft} ?? ''`)).startsWith('print("one key'),
  )
  await write(page, 'print("left at once")')
  await page.reload()
  await page.getByRole('textbox', { name: 'Code' }).filter({ hasText: 'left at once' }).waitFor()
})

fact('a draft that cannot be kept says so', async (t, { page }, key) => {
  await enter(page, origin, key)
  // Fails as a browser's storage does when it is full.
  await page.evaluate(`(() => {
    const { setItem } = Storage.prototype
    Storage.prototype.setItem = function (name, value) {
      if (value.includes('too long')) throw new DOMException('full', 'QuotaExceededError')
      setItem.call(this, name, value)
    }
  })()`)
  await write(page, '# too long')
  await page.getByRole('status').filter({ hasText: 'too large to be kept' }).waitFor()
  await write(page, 'print(1)')
  await page.getByText('too large to be kept').waitFor({ state: 'detached' })
  t.pass()
})

fact('a removed row takes nothing of the others with it', async (t, { page }, key) => {
  await enter(page, origin, key)
  await page.getByRole('tab', { name: 'Tests' }).click()
  await addTest(page, 1, 'first', '1')
  await addTest(page, 2, 'second', '2')
  const last = page.getByRole('group', { name: 'Test 2' }).getByLabel('Input')
  await last.focus()
  // The focus stays in its field. It would not stay if the row were only filled again.
  await page.getByRole('button', { name: 'Remove test 1' }).dispatchEvent('click')
  const left = page.getByRole('group', { name: 'Test 1' }).getByLabel('Input')
  await page.getByRole('group', { name: 'Test 2' }).waitFor({ state: 'detached' })
  t.equal(await left.inputValue(), 'second')
  t.equal(await left.evaluate((field) => field.matches(':focus')), true)
})

fact('a mistake of the page is told, and the rest goes on', async (t, tab, key) => {
  const { page } = tab
  const complaints = tab.complaints as string[]
  const id = await submit(key, { code: 'print(1)' })
  await page.route(`**/api/result/${id}`, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ json: { ...(await response.json()), status: 'completed', tests: 7 } })
  })
  await enter(page, origin, key, `#/submission/${id}`)
  const alert = page.getByRole('main').getByRole('alert')
  await alert.filter({ hasText: 'The page has failed:' }).waitFor()
  await page.getByRole('link', { name: 'Submissions' }).click()
  await awaitShown(page, 1)
  t.equal(await alert.count(), 0)
  await page.evaluate("void Promise.reject(new Error('planted'))")
  await page.getByRole('alert').filter({ hasText: 'The page has failed: planted.' }).waitFor()
  t.ok(complaints.length >= 2)
  complaints.length = 0
})
