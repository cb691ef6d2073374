// Program output is shown as text, whatever it contains.
import { keptCharacters } from '../../../src/console/page/live.ts'
import { enter, write } from '../service.ts'
import {
  allowTime,
  endless,
  endlessLimits,
  fact,
  origin,
  outcome,
  showsVerdict,
  start,
  stdout,
  stopButton,
  submit,
} from '../suite.ts'

fact('markup, escapes and hidden characters are seen, not obeyed', async (t, { page }, key) => {
  await enter(page, origin, key)
  const hostile = [
    '<script>document.title = "owned"</script><img src=x onerror="document.title = \'owned\'">',
    '</pre><b>bold</b>',
    '\u001b[31mred\u001b[0m \u202egnp.exe\u202c \u200bzero\u0007',
  ].join('\n')
  await write(page, `print(${JSON.stringify(hostile)})`)
  await start(page)
  await showsVerdict(page, 'Finished')
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
})

fact('nothing of it is obeyed while it comes, either', async (t, { page }, key) => {
  const hostile =
    '<script>document.title = "owned"</script></pre><b>bold</b>\u001b[2J\u202egnp.exe\u202c'
  await enter(page, origin, key)
  await allowTime(page)
  // A megabyte in one line, which is as much as the page keeps.
  await write(
    page,
    `import sys, time\nsys.stdout.write("x" * 900_000 + "\\n" + ${JSON.stringify(hostile)})\nsys.stdout.flush()\n${endless}`,
  )
  await start(page)
  await stdout(page).filter({ hasText: 'gnp.exe' }).waitFor()
  const shown = (await stdout(page).textContent()) ?? ''
  t.ok(shown.endsWith(hostile.replace('\u001b', '\\x1b').replace('\u202e', '\\u202e').replace('\u202c', '\\u202c'))) // prettier-ignore
  t.ok(shown.length < 2 * keptCharacters, `${shown.length} characters`)
  t.equal(await stdout(page).locator('*').count(), 0)
  t.match(await outcome(page).textContent(), /8\d\d,\d{3} characters before are shown when/)
  t.equal(await page.title(), 'Playground · Runledger')
  const fits = await page.evaluate('document.documentElement.scrollWidth <= innerWidth')
  t.equal(fits, true, 'a long line stays in its place')
  await stopButton(page).click()
  await page.getByText(/8\d\d,\d{3} more characters are not shown/).waitFor()
})

fact('endless output is drawn once a frame, and its end is kept', async (t, { page }, key) => {
  await enter(page, origin, key)
  await page.evaluate(`globalThis.seen = { frame: 0, changes: 0, inOneFrame: 0, longest: 0 }
      let changedIn = -1
      const tick = () => { seen.frame += 1; requestAnimationFrame(tick) }
      requestAnimationFrame(tick)
      new MutationObserver(() => {
        const text = document.querySelector('[aria-label="stdout"]')?.textContent ?? ''
        if (text === seen.text) return
        seen.changes += 1
        if (changedIn === seen.frame) seen.inOneFrame += 1
        changedIn = seen.frame
        seen.text = text
        seen.longest = Math.max(seen.longest, text.length)
      }).observe(document.body, { subtree: true, childList: true, characterData: true })`)
  const id = await submit(key, {
    code: `import sys, time
for n in range(6000):
    sys.stdout.write(f"{n:01023d}\\n")
    sys.stdout.flush()
sys.stdout.write("done\\u200b")
sys.stdout.flush()
${endless}`,
    limits: { ...endlessLimits, stdout: 8_000_000 },
  })
  await page.evaluate(`location.hash = '#/submission/${id}'`)
  await stdout(page).filter({ hasText: 'done\\u200b' }).waitFor()
  const seen = (await page.evaluate('seen')) as Readonly<Record<string, number>>
  t.comment(`${seen['changes']} changes in ${seen['frame']} frames`)
  t.equal(seen['inOneFrame'], 0)
  t.ok((seen['longest'] ?? 0) > 10_000)
  t.ok((seen['longest'] ?? 0) < 2 * keptCharacters)
  await stopButton(page).click()
  await page.getByText(/6,0\d\d,\d{3} more characters are not shown/).waitFor()
})
