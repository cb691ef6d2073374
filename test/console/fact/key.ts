// The first contact: how a key arrives, who else can read it, how long it is kept, and what a visitor without a key sees.
import type { Page } from 'playwright-core'
import { enter } from '../service.ts'
import { ask, awaitShown, fact, origin, submit } from '../suite.ts'

const signOut = (page: Page) => page.getByRole('button', { name: 'Sign out' })
const field = (page: Page) => page.getByRole('textbox', { name: 'API key' })
/** Returns the key that is kept beyond the tab. */
const device = (page: Page) => page.evaluate("localStorage.getItem('runledger.key')")

fact('a link signs in, and its key is in no address', async (t, { page }, key) => {
  await page.goto(`${origin}/#key=${key}`)
  await signOut(page).waitFor()
  t.equal(page.url(), `${origin}/#/`)
  await page.reload()
  await signOut(page).click()
  await field(page).waitFor()
  t.equal(await device(page), null)
  // In an open page the key arrives as a changed fragment.
  await page.evaluate(`location.hash = 'key=${key}'`)
  await signOut(page).waitFor()
  t.equal(page.url(), `${origin}/#/`)
  t.equal(await page.evaluate('history.state'), null)
})

fact('a link signs in to a service on this machine only', async (t, { page }, key) => {
  const elsewhere = await page.context().newPage()
  await elsewhere.goto(`http://elsewhere.localhost:${new URL(origin).port}/#key=${key}`)
  await field(elsewhere).waitFor()
  t.notMatch(elsewhere.url(), key)
  t.equal(await elsewhere.evaluate("sessionStorage.getItem('runledger.key')"), null)
  await elsewhere.close()
})

fact('open tabs share the key, and sign out together', async (t, { page }, key) => {
  await enter(page, origin, key)
  t.equal(await device(page), null)
  const second = await page.context().newPage()
  await second.goto(`${origin}/#/submissions`)
  await signOut(second).waitFor()
  t.equal(await device(second), null, 'it is told, not kept')
  await signOut(second).click()
  await field(page).waitFor()
  await enter(page, origin, key)
  await signOut(second).waitFor()
  await second.close()
})

fact('the device remembers a key only if it is asked to', async (t, { page }, key) => {
  const context = page.context()
  const open = async (): Promise<Page> => {
    const next = await context.newPage()
    await next.goto(origin)
    return next
  }
  const first = await open()
  const box = first.getByRole('checkbox', { name: 'Remember on this device' })
  t.equal(await box.isChecked(), false)
  await enter(first, origin, key)
  await first.close()
  const second = await open()
  await field(second).fill(key)
  await second.getByRole('checkbox', { name: 'Remember on this device' }).check()
  await second.getByRole('button', { name: 'Sign in' }).click()
  await signOut(second).waitFor()
  await second.close()
  const third = await open()
  await signOut(third).click()
  await field(third).waitFor()
  t.equal(await device(third), null)
  await third.close()
  const fourth = await open()
  await field(fourth).waitFor()
  await fourth.close()
})

fact('who has nothing yet is told what to do', async (t, { page }, key) => {
  await page.goto(origin)
  await page.getByText('Sign in with an API key above').waitFor()
  await page.getByText('make run prints a link that signs in').waitFor()
  await enter(page, origin, key)
  await page.getByText('press Run: its output').waitFor()
  await page.getByRole('link', { name: 'Submissions' }).click()
  await page.getByText('Nothing was submitted yet.').waitFor()
  await page.goto(`${origin}/#/submissions?verdict=WA`)
  await page.getByText('No submission matches.').waitFor()
  await submit(key, { code: 'print(1)' })
  t.equal((await ask('GET', '/api/submissions', key)).submissions.length, 1)
  await page.goto(`${origin}/#/submissions`)
  await awaitShown(page, 1)
})
