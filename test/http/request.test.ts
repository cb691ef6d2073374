// GET /api/result/{id}/request returns what was submitted, in a form that can be submitted again, with the limits in force.
import t from 'tap'
import { defaultLimits } from '#language'
import { decodeOptions } from '#options'
import { checkSchema } from '../helper/contract.ts'
import { finish, startExecution } from '../helper/execution.ts'
import { startFreshServer } from '../helper/server.ts'
import { createCaller } from '../helper/submission.ts'

const { call, sql } = await startFreshServer(t)
const caller = await createCaller(sql)
const { key } = caller

const submit = async (request: object): Promise<string> => {
  const { status, body } = await call('POST', '/api/submit', { key, body: request })
  t.equal(status, 202, JSON.stringify(body))
  return body.id
}
const tell = (id: string, by = key): ReturnType<typeof call> =>
  call('GET', `/api/result/${id}/request`, { key: by })

t.test('a request comes back by its own names, and can be submitted again', async (t) => {
  const given = {
    language: 'python', code: 'print(input())\0', stdin: '\uFEFFä\0', expected_stdout: '5\n', args: ['a'], tag: 'mine', priority: 'low',
    files: [{ name: 'a.bin', content: '/w==', encoding: 'base64' }], output_encoding: 'base64', output_files: ['out'],
    limits: { cpu_time: 1, wall_time: 2 }, checker: { type: 'floats', absolute: 0.5 },
  } // prettier-ignore
  const id = await submit(given)
  const { status, body } = await tell(id)
  t.equal(status, 200)
  t.strictSame(body, { id, request: given, limits: null })
  const again = await submit(body.request)
  t.strictSame((await tell(again)).body, { ...body, id: again })
  t.equal((await tell(id.toUpperCase())).body.id, id)
})

t.test('aliases are folded, and what was left out stays out', async (t) => {
  const tests = [{ name: 'a', stdin: 'AAA=', expected_stdout: '' }, {}]
  const several = { language: 'python', code: '', tests, stdin_encoding: 'base64' }
  t.strictSame((await tell(await submit({ ...several, language: 'py' }))).body.request, several)
  const hooked = { webhook_url: 'https://example.com/?token=a', webhook_secret: 'a secret' }
  const { body } = await tell(await submit({ language: 'python', code: 'a', ...hooked }))
  t.strictSame(body.request, { language: 'python', code: 'a' }, 'nothing of its webhook')
})

t.test('an input is text where it is UTF-8, else base64', async (t) => {
  const base = { language: 'python', code: '', stdin_encoding: 'base64' }
  const told = async (stdin: string): Promise<object> =>
    (await tell(await submit({ ...base, stdin }))).body.request
  t.match(await told('/w=='), { stdin: '/w==', stdin_encoding: 'base64' })
  t.strictSame(await told('NQ=='), { language: 'python', code: '', stdin: '5' })
})

t.test('an option that this release does not know is told as it is kept', async (t) => {
  const id = await submit({ language: 'python', code: '' })
  const options = { env: { NAME: 'value' }, network: 'loopback' }
  await sql`update runledger.body set detail = ${Buffer.from(JSON.stringify(options))} where submission_id = ${id}`
  t.strictSame(decodeOptions(Buffer.from(JSON.stringify(options))), options)
  const { text } = await call('GET', `/api/result/${id}/request`, { key, checked: false })
  t.match(JSON.parse(text), { request: options })
})

t.test('the limits in force and the attempt are told, in the record too', async (t) => {
  const id = await submit({ language: 'cpp', code: '', limits: { memory: 64 * 1024 * 1024 } })
  const record = async (): Promise<Record<string, unknown>> =>
    (await call('GET', `/api/result/${id}`, { key })).body
  t.match(await record(), { limits: null, attempt: null })
  const version = await startExecution(sql, id)
  t.ok(version)
  const { cpuSeconds, stdoutBytes } = defaultLimits.python.run
  const run = { cpu_time: cpuSeconds, memory: 64 * 1024 * 1024, stdout: stdoutBytes }
  t.match(await record(), { status: 'running', attempt: 1, limits: { run } })
  const { body } = await tell(id)
  t.match(body.limits, { compile: null, run })
  t.strictSame(Object.keys(body.limits.run), [
    'cpu_time', 'wall_time', 'memory', 'stdout', 'stderr', 'disk', 'processes',
  ]) // prettier-ignore
  t.strictSame((await record())['limits'], body.limits)
  checkSchema('ReceivedRequest', body)
})

t.test('after retention 410, and to others there is nothing', async (t) => {
  const id = await submit({ language: 'python', code: 'secret' })
  const stranger = await createCaller(sql)
  const absent = await tell('01a217f2-7e4e-7662-80e2-c2b8e594128e')
  t.match(absent, { status: 404, body: { error: 'not_found' } })
  for (const answer of [await tell(id, stranger.key), await tell('malformed')]) {
    t.equal(answer.status, 404)
    t.strictSame(answer.body, absent.body)
  }
  t.equal((await call('GET', `/api/result/${id}/request?wait=true`, { key })).status, 400)
  await finish(sql, id)
  await sql`select runledger.purge_bodies(interval '-1 day', 100)`
  t.match(await tell(id), { status: 410, body: { error: 'purged' } })
})
