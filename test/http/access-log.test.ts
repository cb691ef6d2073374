// The access line: who asked for what and with which result, and no content of the request.
import t from 'tap'
import { createLog } from '#log'
import { openTestDatabase } from '../helper/database.ts'
import { startServer } from '../helper/server.ts'
import { createCaller } from '../helper/submission.ts'

const { sql, url } = await openTestDatabase(t)
const caller = await createCaller(sql)
const body = { language: 'python', code: 'print("hidden-code")' }
const absent = '/api/result/hidden-id?wait=true'

/** Sends three requests. @returns the lines that are logged at this level. */
async function logThree(level: string): Promise<string[]> {
  const lines: string[] = []
  const log = createLog('web', level, { write: (line) => lines.push(line) })
  const { call } = await startServer(t, sql, { url, log })
  await call('POST', '/api/submit', { key: caller.key, body })
  await call('GET', absent, { key: caller.key })
  await call('GET', '/nowhere?hidden', { key: null })
  while (level === 'debug' && lines.length < 3) await new Promise(setImmediate)
  return lines
}

t.test('at debug each request has a line', async (t) => {
  const lines = await logThree('debug')
  const told = lines.map((line) => JSON.parse(line) as object)
  t.match(told, [
    { msg: 'request.answered', method: 'POST', route: '/api/submit', status: 202, account: caller.accountId },
    { method: 'GET', route: '/api/result/:id', status: 404, milliseconds: Number, request: String },
    { method: 'GET', route: null, status: 404, account: null },
  ]) // prettier-ignore
  t.notMatch(lines.join(''), 'hidden')
  t.notMatch(lines.join(''), caller.key.slice(0, 12), 'nor the key, not even its label')
})

t.test('at info none has', async (t) => {
  t.strictSame(await logThree('info'), [])
})
