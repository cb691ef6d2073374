// The log never holds what a caller sent or a secret, and is whole however a process ends.
import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Test } from 'tap'
import { createLog } from '#log'

t.test('code, inputs, outputs and secrets are replaced wherever a field holds them', async (t) => {
  let logged = ''
  const log = createLog('test', 'info', { write: (line: string) => (logged += line) })
  const names =
    'code stdin stdout stderr expected_stdout compile_output webhook_secret secret key digest body headers url DATABASE_URL RECEIPT_KEY'
  for (const name of names.split(' ')) {
    logged = ''
    log.info({ [name]: 'CANARY', nested: { [name]: 'CANARY' } }, 'test.logged')
    t.notMatch(logged, 'CANARY', name)
    t.equal(logged.match(/\[redacted\]/g)?.length, 2, name)
    logged = ''
    const failed = Object.assign(new Error('refused'), name !== 'code' && { [name]: 'CANARY' })
    log.error({ err: failed, other: Object.assign(new Error('refused'), { [name]: 'CANARY' }) })
    t.notMatch(logged, 'CANARY', `${name} of an error`)
  }
  logged = ''
  const at = new Date(0)
  log.info({ at, languages: ['c'], nested: { at, languages: ['c'] } })
  const shown = { at: at.toJSON(), languages: ['c'] }
  t.match(JSON.parse(logged), { ...shown, nested: shown })
})

t.test('a line says when, where and what', async (t) => {
  let logged = ''
  createLog('web', 'info', { write: (line: string) => (logged += line) }).info(
    { port: 3000 },
    'web.started',
  )
  const answer = JSON.parse(logged)
  t.match(answer, { level: 'info', name: 'web', port: 3000, msg: 'web.started', time: /Z$/ })
})

t.test('the code of an error is shown', async (t) => {
  let logged = ''
  const log = createLog('test', 'info', { write: (line: string) => (logged += line) })
  log.error({ err: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) }, 'test.failed')
  t.match(JSON.parse(logged), { err: { error_code: 'ECONNREFUSED', message: 'refused' } })
})

/** A process that logs and ends, in one breath: `process.exit` leaves an event loop nothing more to do. */
const ending = `
  const { createLog } = await import('#log')
  // However long this process stands still, no write counts as stuck.
  performance.now = () => 0
  const log = createLog('test', 'info')
  process.once('SIGTERM', () => {
    for (let n = 0; n < 2000; n += 1) log.info({ n }, 'test.counted')
    process.exit(7)
  })
  setInterval(() => {}, 1000)
  process.stderr.write('ready')`

async function startEnding(t: Test): Promise<ChildProcessByStdio<null, Readable, Readable>> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', ending], {
    cwd: resolve(import.meta.dirname, '../..'),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stderr, 'data')
  return child
}

t.test('a process that ends has written all it logged', async (t) => {
  const child = await startEnding(t)
  child.kill('SIGTERM')
  const lines = (await text(child.stdout)).trim().split('\n')
  // The last ones may overtake what is just being written.
  t.strictSame(
    lines.map((line) => JSON.parse(line).n as number).toSorted((a, b) => a - b),
    Array.from({ length: 2000 }, (_, n) => n),
  )
})

t.test('a process whose log has a reader that does not read ends all the same', async (t) => {
  // Too many lines for a pipe: the write that is under way does not return.
  const child = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `
    const { createLog } = await import('#log')
    const log = createLog('test', 'info')
    for (let n = 0; n < 5000; n += 1) log.info({ n }, 'test.counted')
    // Long enough for a write that begins late to count as stuck.
    setTimeout(() => process.exit(7), 6000)`,
    ],
    { cwd: resolve(import.meta.dirname, '../..'), stdio: ['ignore', 'pipe', 'inherit'] },
  )
  t.teardown(() => child.kill('SIGKILL'))
  child.stdout.pause()
  t.strictSame(await once(child, 'exit'), [null, 'SIGKILL'])
})

t.test('a process whose log nobody reads any more ends all the same', async (t) => {
  const child = await startEnding(t)
  child.stdout.destroy()
  child.kill('SIGTERM')
  t.strictSame(await once(child, 'exit'), [7, null])
})
