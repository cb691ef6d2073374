// A program's output and its tests while it runs, over any failure of the connection.
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { setTier } from '#account'
import { openStream } from '../../helper/stream.ts'
import { enter, turn, write } from '../service.ts'
import {
  addTest,
  allowTime,
  endless,
  endlessLimits,
  fact,
  awaitAccepted,
  origin,
  outcome,
  service,
  showsVerdict,
  start,
  stdout,
  stopButton,
  submit,
  takeBack,
  until,
} from '../suite.ts'

/** A program that prints numbered lines for as long as it runs. */
const counting = `import itertools, time
for n in itertools.count():
    print("line", n, flush=True)
    time.sleep(0.02)
`

const shows = (page: Page, text: string) => stdout(page).filter({ hasText: text }).waitFor()

/** Checks that every line appears once and in order. @returns the number of lines. */
async function readCount(t: Test, page: Page): Promise<number> {
  const lines = ((await stdout(page).textContent()) ?? '').split('\n').slice(0, -1)
  t.strictSame(
    lines,
    lines.map((_, n) => `line ${n}`),
  )
  return lines.length
}

fact('output comes before the end, after a reload and elsewhere too', async (t, { page }, key) => {
  await enter(page, origin, key)
  await allowTime(page)
  await write(page, `print("first", flush=True)\n${endless}`)
  await start(page)
  await shows(page, 'first')
  t.ok(await stopButton(page).isVisible())
  await page.reload()
  await shows(page, 'first')
  await page.getByRole('link', { name: /^Submission / }).click()
  await shows(page, 'first')
  await page.getByText('Attempt 1').waitFor()
  await stopButton(page).click()
  await page.locator('.badge', { hasText: 'Cancelled' }).first().waitFor()
  t.equal(await stdout(page).textContent(), 'first\n')
  t.ok(await page.getByRole('button', { name: 'Run again' }).isEnabled())
  await page.goBack()
  await showsVerdict(page, 'Cancelled')
})

fact('what waits for a worker is stopped, too', async (t, { page }, key) => {
  // Occupies all slots of the worker.
  for (const _ of [1, 2]) await submit(key, { code: endless, limits: endlessLimits })
  await enter(page, origin, key)
  await start(page)
  await outcome(page).locator('.badge', { hasText: 'Queued' }).waitFor()
  await awaitAccepted(page)
  await stopButton(page).click()
  await showsVerdict(page, 'Cancelled')
  t.match(await outcome(page).textContent(), /It was cancelled/)
})

fact('tests are shown as they end', async (t, { page }, key) => {
  await enter(page, origin, key)
  await allowTime(page)
  await write(page, 'import time\nn = int(input())\nif n == 3: time.sleep(300)\nprint(n)\n')
  await page.getByRole('tab', { name: 'Tests' }).click()
  await addTest(page, 1, '1', '1')
  await addTest(page, 2, '2', '7')
  await addTest(page, 3, '3', '3')
  await start(page)
  await outcome(page).getByText('1 of 2 passed so far').waitFor()
  const rows = outcome(page).getByRole('row')
  t.match(await rows.nth(1).textContent(), /Accepted/)
  t.match(await rows.nth(2).textContent(), /Wrong answer/)
  t.match(await outcome(page).textContent(), /Expected7Got2/)
  await stopButton(page).click()
  await showsVerdict(page, 'Cancelled')
})

fact('a broken stream goes on without loss, and tells nothing twice', async (t, { page }, key) => {
  await enter(page, origin, key)
  await allowTime(page)
  await write(page, counting)
  await start(page)
  await shows(page, 'line 20\n')
  await service.goAway()
  await page.getByText('The service cannot be reached. Trying again…').waitFor()
  const before = await readCount(t, page)
  await service.comeBack()
  await shows(page, `line ${before + 50}\n`)
  t.ok((await readCount(t, page)) > before)
  t.equal(await page.getByText('cannot be reached').count(), 0)
  await stopButton(page).click()
  await showsVerdict(page, 'Cancelled')
  t.ok((await readCount(t, page)) > before)
})

fact('who does not look is not told, and misses nothing', async (t, { page }, key) => {
  const countOpen = async (): Promise<string | undefined> =>
    /^runledger_streams_open (\d+)$/m.exec(await (await fetch(`${origin}/metrics`)).text())?.[1]
  await enter(page, origin, key)
  await allowTime(page)
  await write(page, counting)
  await start(page)
  await shows(page, 'line 5\n')
  t.equal(await countOpen(), '1')
  await turn(page, 'hidden')
  await until(async () => (await countOpen()) === '0')
  const hidden = await readCount(t, page)
  await turn(page, 'visible')
  await shows(page, `line ${hidden + 20}\n`)
  await readCount(t, page)
})

fact('where there is no place for a stream, the end is asked for', async (t, { page }) => {
  await setTier(
    service.database.sql,
    {
      name: 'streams',
      requests_per_minute: 100_000,
      concurrent_executions: null,
      limits: { wall_time: endlessLimits.wall_time },
    },
    'test',
  )
  const key = await service.issue('streams')
  const id = await submit(key, { code: endless, limits: endlessLimits })
  const port = Number(new URL(origin).port)
  const path = `/api/result/${id}/stream`
  const others = await Promise.all(
    Array.from({ length: 100 }, () => openStream({ port, key, path })),
  )
  const refused = page.waitForResponse((response) => response.status() === 429)
  await enter(page, origin, key)
  await start(page)
  t.match((await refused).url(), /\/stream$/)
  await showsVerdict(page, 'Finished')
  t.equal(await stdout(page).textContent(), 'Hello, world!\n')
  t.equal(await page.locator('.trouble p').count(), 0)
  for (const other of others) other.close()
  await takeBack(key)
})

fact('another account’s running program is neither found nor heard', async (t, { page }, key) => {
  const other = await service.issue()
  const id = await submit(other, {
    code: `print("theirs", flush=True)\n${endless}`,
    limits: { wall_time: 20 },
  })
  await enter(page, origin, key, `#/submission/${id}`)
  await page.getByRole('heading', { name: 'There is no such submission' }).waitFor()
  t.notMatch(await page.textContent('body'), /theirs/)
  for (const path of ['/stream', '/receipt', '/rerun', '/cancel']) {
    const method = ['/rerun', '/cancel'].includes(path) ? 'POST' : 'GET'
    const status = await page.evaluate(
      `fetch('/api/result/${id}${path}', { method: '${method}', headers: { 'X-API-Key': '${key}' } })
          .then((response) => response.status)`,
    )
    t.equal(status, 404, path)
  }
  await takeBack(other)
})
