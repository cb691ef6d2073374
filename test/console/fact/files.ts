// Programs and their files can be opened from a disk and saved to it; examples and links are available.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { awaitLanguages, enter, write } from '../service.ts'
import { fact, origin, outcome, showsVerdict, start, stdout } from '../suite.ts'

fact('a program is opened in its language, and saved as it stands', async (t, { page }, key) => {
  await enter(page, origin, key)
  await awaitLanguages(page)
  const code = '#include <cstdio>\nint main() { std::puts("ünï from a disk"); }\n'
  await page
    .getByLabel('Program to open')
    .setInputFiles({ name: 'solution.cpp', mimeType: 'text/plain', buffer: Buffer.from(code) })
  const language = page.getByRole('combobox', { name: 'Language' })
  await page.getByRole('textbox', { name: 'Code' }).filter({ hasText: 'from a disk' }).waitFor()
  t.equal(await language.locator('option:checked').textContent(), 'C++')
  await start(page)
  await showsVerdict(page, 'Finished')
  t.equal(await stdout(page).textContent(), 'ünï from a disk\n')
  const save = page
    .getByRole('region', { name: 'Program', exact: true })
    .getByRole('button', { name: 'Save', exact: true })
  const [download] = await Promise.all([page.waitForEvent('download'), save.click()])
  t.equal(download.suggestedFilename(), 'main.cpp')
  const file = join(t.testdir(), 'saved')
  await download.saveAs(file)
  t.equal(readFileSync(file, 'utf8'), code)
  // No language has this extension, so the chosen language stays.
  await page
    .getByLabel('Program to open')
    .setInputFiles({ name: 'notes.xyz', mimeType: 'text/plain', buffer: Buffer.from('notes') })
  await page.getByRole('textbox', { name: 'Code' }).filter({ hasText: 'notes' }).waitFor()
  t.equal(await language.locator('option:checked').textContent(), 'C++')
})

fact('files beside a program are opened and outlive a reload', async (t, { page }, key) => {
  await enter(page, origin, key)
  await write(page, 'print(open("a.txt").read(), open("b.txt").read())')
  await page.getByRole('tab', { name: 'Files' }).click()
  await page.getByLabel('Files to open').setInputFiles(
    ['a', 'b'].map((name) => ({ name: `${name}.txt`, mimeType: 'text/plain', buffer: Buffer.from(`of ${name}`) })), // prettier-ignore
  )
  await page.getByRole('tab', { name: 'Files 2' }).waitFor()
  await page.reload()
  await page.getByRole('tab', { name: 'Files 2' }).click()
  t.equal(
    await page.getByRole('group', { name: 'File 2' }).getByLabel('Name').inputValue(),
    'b.txt',
  )
  await start(page)
  await showsVerdict(page, 'Finished')
  t.equal(await stdout(page).textContent(), 'of a of b\n')
})

fact('each language has its example, and nothing written is lost', async (t, { page }, key) => {
  await enter(page, origin, key)
  await awaitLanguages(page)
  const code = page.getByRole('textbox', { name: 'Code' })
  const language = page.getByRole('combobox', { name: 'Language' })
  for (const title of await language.locator('option').allTextContents()) {
    await language.selectOption({ label: title })
    await page.getByRole('button', { name: 'Example' }).click()
    await start(page)
    await outcome(page).locator('.badge').first().waitFor()
    await showsVerdict(page, 'Finished')
    t.match(await stdout(page).textContent(), /Hello/, title)
  }
  await write(page, 'my own')
  const [first] = await language.locator('option').allTextContents()
  await language.selectOption({ label: first ?? '' })
  t.match(await code.textContent(), /my own/)
})

fact('a link to a submission is copied, and opens it in another tab', async (t, { page }, key) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await enter(page, origin, key)
  await start(page)
  await showsVerdict(page, 'Finished')
  await page.getByRole('link', { name: /^Submission / }).click()
  await page.getByRole('button', { name: 'Copy link' }).click()
  await page.getByText('Copied.').waitFor()
  const link = await page.evaluate<string>('navigator.clipboard.readText()')
  t.equal(link, page.url())
  t.notMatch(link, key)
  const other = await page.context().newPage()
  await other.goto(link)
  await other.getByRole('heading', { name: 'Timeline' }).waitFor()
  await other.close()
})
