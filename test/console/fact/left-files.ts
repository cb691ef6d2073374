// Files that a program leaves are returned, and are saved byte for byte.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { enter, write } from '../service.ts'
import { fact, origin, outcome, showsVerdict, start, until } from '../suite.ts'

const leaving = `import os
os.mkdir("made")
open("made/all.bin", "wb").write(bytes(range(256)) * 3)
open("made/page.html", "w").write("<script>document.title = 'owned'</script>")
open("large.bin", "wb").write(b"x" * 2_000_000)
`

fact('files that a program leaves are listed, and saved as they are', async (t, { page }, key) => {
  await enter(page, origin, key)
  await write(page, leaving)
  await page.getByRole('tab', { name: 'Files' }).click()
  const names = ['made/all.bin', 'made/page.html', 'large.bin', 'none.txt']
  await page.getByLabel('Files to return').fill(`${names.join('\n')}\n\n`)
  await start(page)
  await showsVerdict(page, 'Finished')
  for (const at of ['result', 'page']) {
    const list = (at === 'result' ? outcome(page) : page.getByRole('main')).locator('.left-files')
    t.match(
      await list.textContent(),
      /all\.bin768 B.*page\.html\d+ B.*large\.bin1\.9 MiB.*Not returned/,
    )
    // The list of the previous page stays until the list of the next one is loaded.
    await until(async () => (await list.getByRole('listitem').count()) === 3)
    const saving = page.waitForEvent('download')
    await list.getByRole('button', { name: 'Save made/all.bin' }).click()
    const download = await saving
    t.equal(download.suggestedFilename(), 'all.bin')
    const file = join(t.testdir(), 'saved')
    await download.saveAs(file)
    const bytes = Buffer.concat([1, 2, 3].map(() => Buffer.from(Array.from({ length: 256 }, (_, n) => n)))) // prettier-ignore
    t.ok(readFileSync(file).equals(bytes))
    if (at === 'result') {
      await page.getByRole('link', { name: /^Submission / }).click()
      await page.waitForURL((address) => address.href.includes('submission'))
    }
  }
  t.notMatch(await page.title(), /owned/)
})

fact('a name that cannot be is refused in words', async (_t, { page }, key) => {
  await enter(page, origin, key)
  await page.getByRole('tab', { name: 'Files' }).click()
  await page.getByLabel('Files to return').fill('../etc/passwd')
  await start(page)
  await page.getByRole('alert').filter({ hasText: 'output_files.0' }).waitFor()
})
