// The playground: code written there runs, and its results are shown.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { enter, write } from '../service.ts'
import {
  fact,
  awaitAccepted,
  awaitShown,
  origin,
  outcome,
  runTests,
  service,
  showsVerdict,
  start,
  stdout,
} from '../suite.ts'

const run = promisify(execFile)

fact('an example runs by Ctrl-Enter, and a reload shows it again', async (t, tab, key) => {
  const { page } = tab
  await enter(page, origin, key)
  await page.getByRole('combobox', { name: 'Language' }).selectOption({ label: 'Python' })
  await start(page)
  await showsVerdict(page, 'Finished')
  t.equal(await stdout(page).textContent(), 'Hello, world!\n')
  t.match(await outcome(page).textContent(), /CPU time.* of 5 s.*Memory.* of 256 MiB/)
  await page.reload()
  await showsVerdict(page, 'Finished')
  t.equal(await stdout(page).textContent(), 'Hello, world!\n')
})

fact('the Run button is pressed by keyboard alone', async (t, { page }, key) => {
  await page.goto(origin)
  // Tab passes the link to the content, the two views, and the field of the key.
  for (let presses = 0; presses < 4; presses += 1) await page.keyboard.press('Tab')
  await page.keyboard.type(key)
  await page.keyboard.press('Enter')
  const editor = page.getByRole('textbox', { name: 'Code' })
  await editor.filter({ hasText: 'Hello' }).waitFor()
  const isOn = (name: string) =>
    page.getByRole('button', { name, exact: true }).evaluate((one) => one.matches(':focus'))
  for (let presses = 0; !(await isOn('Run')) && presses < 30; presses += 1) {
    // Escape leaves the editor, where Tab is a character.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
  }
  t.ok(await isOn('Run'))
  await page.keyboard.press('Enter')
  await showsVerdict(page, 'Finished')
})

fact('a compile error shows the compiler’s words', async (t, { page }, key) => {
  await enter(page, origin, key)
  await page.getByRole('combobox', { name: 'Language' }).selectOption({ label: 'C++' })
  await write(page, 'int main() { retrun 0; }')
  await start(page)
  await showsVerdict(page, 'Compile error')
  t.match(await page.getByRole('region', { name: 'Compiler' }).textContent(), /retrun/)
})

fact('each test has its verdict, and a wrong one its difference', async (t, { page }, key) => {
  await enter(page, origin, key)
  await runTests(page)
  t.match(await outcome(page).textContent(), /Test 2 decided.*2 of 3 passed/)
  const difference = page.getByRole('region', { name: 'Difference in line 1' })
  t.match(await difference.textContent(), /Expecteddouble: 6Gotdouble: 7/)
  await page.getByRole('button', { name: 'Show the output of test 3' }).click()
  t.equal(await page.getByRole('region', { name: 'stdout of 3' }).textContent(), 'double: 20\n')
  await page.getByRole('link', { name: /^Submission / }).click()
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  const timeline = await page.getByRole('list').last().textContent()
  t.match(timeline, /Received.*Waited.*Attempt 1.*Test 1 Accepted.*Test 2 Wrong answer.*Test 3/)
})

fact('input, arguments, files and limits reach the program', async (t, { page }, key) => {
  await enter(page, origin, key)
  await write(page, 'import sys\nprint(sys.argv[1:], input(), open("data.txt").read())')
  await page.getByLabel('Input', { exact: true }).fill('from stdin')
  await page.getByRole('tab', { name: 'Files' }).click()
  await page.getByRole('button', { name: 'Add a file' }).click()
  await page.getByLabel('Name').fill('data.txt')
  await page.getByLabel('Content').fill('from a file')
  await page.getByRole('tab', { name: 'Options' }).click()
  await page.getByLabel('Arguments', { exact: true }).fill('one\ntwo words')
  await page.getByLabel('CPU time, s').fill('3')
  await page.getByLabel('Tag').fill('a tag')
  await start(page)
  await showsVerdict(page, 'Finished')
  t.equal(await stdout(page).textContent(), "['one', 'two words'] from stdin from a file\n")
  t.match(await outcome(page).textContent(), / of 3 s/)
})

fact('a limit that cannot be is told at its field', async (t, tab, key) => {
  const { page } = tab
  await enter(page, origin, key)
  await page.getByRole('tab', { name: 'Options' }).click()
  const [cpu, memory] = [page.getByLabel('CPU time, s'), page.getByLabel('Memory, MiB')]
  await cpu.fill('two')
  await page.getByRole('tab', { name: 'Code' }).click()
  await start(page)
  await page.getByText('A number above 0, such as 1.5.').waitFor()
  t.equal(await cpu.getAttribute('aria-invalid'), 'true')
  t.notOk(
    tab.requests.some((url) => url.endsWith('/submit')),
    'nothing was sent',
  )
  await cpu.fill('')
  await memory.fill('1')
  await page.getByRole('tab', { name: 'Code' }).click()
  await start(page)
  await page.getByText('Must be at least 16 MiB.').waitFor()
  t.equal(await memory.getAttribute('aria-invalid'), 'true')
  t.notMatch(await outcome(page).textContent(), /limits\.|bytes/)
  await memory.fill('64')
  await start(page)
  await showsVerdict(page, 'Finished')
  t.equal(await memory.getAttribute('aria-invalid'), 'false')
})

fact('who gave no input is told where it goes', async (t, { page }, key) => {
  const hint = outcome(page).getByText('It read more input than it was given')
  await enter(page, origin, key)
  await write(page, 'print("read", input())')
  await start(page)
  await showsVerdict(page, 'Runtime error')
  await hint.waitFor()
  await page.reload()
  await hint.waitFor()
  await page.getByLabel('Input', { exact: true }).fill('a line')
  await start(page)
  await showsVerdict(page, 'Finished')
  t.equal(await hint.count(), 0)
})

fact('accepted is what was judged, and nothing else', async (t, { page }, key) => {
  await enter(page, origin, key)
  await write(page, 'print("as expected")')
  await start(page)
  await showsVerdict(page, 'Finished')
  await page.getByRole('tab', { name: 'Expected' }).click()
  await page.getByLabel('Judge the output').check()
  await page.getByLabel('Expected output').fill('as expected')
  await start(page)
  await showsVerdict(page, 'Accepted')
  await page.getByRole('link', { name: /^Submission / }).click()
  await page.locator('.timeline').getByText('Accepted').waitFor()
  t.equal(await page.locator('.verdict .badge').textContent(), 'Accepted')
})

fact('an endless program is stopped; a limit that was passed is told', async (t, { page }, key) => {
  await enter(page, origin, key)
  await write(page, 'while True: pass')
  await page.getByRole('tab', { name: 'Options' }).click()
  // More time than the test needs to stop the program.
  await page.getByLabel('CPU time, s').fill('100')
  await page.getByLabel('Time, s', { exact: true }).fill('100')
  await start(page)
  await awaitAccepted(page)
  await page.getByRole('button', { name: 'Stop' }).click()
  await showsVerdict(page, 'Cancelled')
  await page.getByLabel('CPU time, s').fill('0.2')
  await start(page)
  await showsVerdict(page, 'Time limit exceeded')
  t.match(await outcome(page).textContent(), /more CPU time than its limit/)
})

fact('a key revoked meanwhile is asked for anew, and the draft stays', async (t, { page }, key) => {
  await enter(page, origin, key)
  await write(page, 'print("kept")')
  await service.revoke(key)
  await start(page)
  await page.getByRole('alert').filter({ hasText: 'not valid' }).waitFor()
  t.equal(await page.evaluate("sessionStorage.getItem('runledger.key')"), null)
  await page.getByRole('textbox', { name: 'API key' }).fill('schlüssel')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').filter({ hasText: 'This is not an API key.' }).waitFor()
  await page.getByRole('textbox', { name: 'API key' }).fill('rl_live_wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').filter({ hasText: 'This API key is not valid.' }).waitFor()
  await page.getByRole('textbox', { name: 'API key' }).fill(await service.issue())
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  await start(page)
  await showsVerdict(page, 'Finished')
  t.equal(await stdout(page).textContent(), 'kept\n')
})

fact('an outage is told, and what was sent in it runs afterwards', async (t, { page }, key) => {
  await enter(page, origin, key)
  await write(page, 'print("once")')
  await service.goAway()
  await start(page)
  await page.getByText('The service cannot be reached. Trying again…').waitFor()
  await service.comeBack()
  await showsVerdict(page, 'Finished')
  t.equal(await page.getByText('cannot be reached').count(), 0)
  await page.getByRole('link', { name: 'Submissions' }).click()
  await awaitShown(page, 1)
})

fact('a request is copied as what runs elsewhere, without the key', async (t, { page }, key) => {
  await enter(page, origin, key)
  await write(page, 'print("it\'s", "a \\\\ backslash", "ü", True)\n')
  await page.getByRole('button', { name: 'Copy as…' }).click()
  const commands = {
    curl: ['sh', ['-c']],
    Python: ['python3', ['-c']],
    TypeScript: [process.execPath, ['--input-type=module-typescript', '-e']],
  } as const
  for (const [name, [program, words]] of Object.entries(commands)) {
    await page.getByRole('tab', { name, exact: true }).click()
    const text =
      (await page.getByRole('region', { name: `Request in ${name}` }).textContent()) ?? ''
    t.notMatch(text, key)
    const env = { PATH: process.env['PATH'], RUNLEDGER_API_KEY: key }
    const { stdout } = await run(program, [...words, text], { env })
    t.match(stdout, String.raw`it's a \\ backslash ü True`, name)
  }
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})
