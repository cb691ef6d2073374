// Every view in light, dark and on a narrow screen: axe finds no barrier, and the view loads fast. With PICTURES=1 it renews
// pictures of the documentation.
import { findFaults, looks, takePicture } from '../picture.ts'
import { enter, write } from '../service.ts'
import {
  allowTime,
  awaitShown,
  endless,
  fact,
  origin,
  runTests,
  showsVerdict,
  start,
  stdout,
  stopButton,
} from '../suite.ts'

/** The names of the pictures, by view and look. */
const pictures: Readonly<Record<string, string>> = {
  'run, light': 'playground',
  'submission, light': 'submission',
  'run, dark': 'dark',
  'submission, narrow': 'narrow',
}

for (const [look, options] of Object.entries(looks)) {
  fact(
    `everybody can use each view, ${look}`,
    async (t, { page }, key) => {
      const judge = async (view: string) => {
        t.strictSame(await findFaults(page), [], view)
        const picture = pictures[`${view}, ${look}`]
        if (picture !== undefined) await takePicture(page, picture, look === 'narrow')
      }
      await page.goto(origin)
      await page.getByRole('textbox', { name: 'API key' }).waitFor()
      await judge('without a key')
      await enter(page, origin, key)
      await runTests(page)
      await judge('tests')
      for (const name of ['Expected', 'Files', 'Options']) {
        await page.getByRole('tab', { name }).click()
        await judge(name)
      }
      await page.getByRole('tab', { name: 'Code' }).click()
      await page.mouse.move(0, 0)
      await judge('run')
      await page.getByRole('button', { name: 'Copy as…' }).click()
      await judge('copy as')
      await page.keyboard.press('Escape')
      await page.getByRole('link', { name: /^Submission / }).click()
      await page.getByRole('heading', { name: 'Timeline' }).waitFor()
      await judge('submission')
      await page.getByRole('button', { name: 'Save receipt' }).click()
      await page.getByText('runledger audit receipt').waitFor()
      await judge('receipt')
      await page.getByRole('button', { name: 'Run again' }).click()
      await page.getByText('Same result as the first run.').waitFor()
      await judge('rerun')
      await page.getByRole('link', { name: 'Submissions' }).click()
      await awaitShown(page, 2)
      await judge('submissions')
      await page.goto(`${origin}/#/submission/nothing`)
      await page.getByRole('heading', { name: 'There is no such submission' }).waitFor()
      await judge('not found')
      await page.goto(`${origin}/#/`)
      await page.getByRole('tab', { name: 'Tests' }).click()
      for (const number of [3, 2, 1])
        await page.getByRole('button', { name: `Remove test ${number}` }).click()
      await page.getByRole('tab', { name: 'Files' }).click()
      await page.getByLabel('Files to return').fill('left.txt')
      await allowTime(page)
      await write(
        page,
        `print("x" * 5000, open("left.txt", "w").write("x"), flush=True)\n${endless}`,
      )
      await start(page)
      await stdout(page).waitFor()
      await judge('running')
      await stopButton(page).click()
      await page.getByRole('button', { name: 'Save left.txt' }).waitFor()
      await judge('left files')
    },
    options,
  )
}

fact('the first view is at most 200 kB as it is sent', async (t, { page }, key) => {
  let bytes = 0
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
  const startedAt = performance.now()
  await enter(page, origin, key)
  // The time depends on the machine, so it is printed and not judged.
  t.comment(`usable after ${Math.round(performance.now() - startedAt)} ms`)
  await start(page)
  await showsVerdict(page, 'Finished')
  t.comment(`${bytes} bytes`)
  t.ok(bytes > 10_000)
  t.ok(bytes <= 200_000, `${bytes} bytes`)
})

fact('over a slow network it comes whole, and runs what it is given', async (t, { page }, key) => {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  // What browsers call fast 3G. The first view takes some seconds, and requests nothing twice.
  const network = { latency: 300, downloadThroughput: 90_000, uploadThroughput: 40_000 }
  await session.send('Network.emulateNetworkConditions', { offline: false, ...network })
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  const startedAt = performance.now()
  await enter(page, origin, key)
  t.comment(`usable after ${Math.round(performance.now() - startedAt)} ms`)
  await start(page)
  await showsVerdict(page, 'Finished')
  const files = asked.filter((path) => !path.startsWith('/api/'))
  t.strictSame(files, [...new Set(files)])
})
