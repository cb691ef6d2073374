// A program that the service could not run: no door reports it as a failed program, and each door says how to retry.
import t from 'tap'
import { interrupt, listPending, pretendWorker, startExecution } from '../../helper/execution.ts'
import { startFreshServer, startServer } from '../../helper/server.ts'

const { call, sql, url } = await startFreshServer(t)
const offered = { version: 'Python 3.11.2', compile: null, run: ['python3', 'main.py'], limits: {} }
await pretendWorker(sql, { python: offered })

/** Starts the pending submission three times, and loses each attempt. */
async function loseAll(): Promise<void> {
  for (let lost = 0; lost < 3;) {
    const [id] = await listPending(sql)
    const version = id === undefined ? null : await startExecution(sql, id)
    if (id === undefined || version === null) continue
    await interrupt(sql, id, version)
    lost += 1
  }
}

t.test('Piston’s clients get an error', async (t) => {
  const body = { language: 'python', version: '*', files: [{ content: '' }] }
  const [answer] = await Promise.all([
    call('POST', '/api/v2/execute', { body, checked: false }),
    loseAll(),
  ])
  t.match(answer, { status: 500, body: { message: String, fault: 'platform', retry: 'new_key' } })
  t.equal(answer.body.run, undefined)
})

t.test('SandboxFusion’s get its own word', async (t) => {
  const body = { language: 'python', code: '' }
  const [answer] = await Promise.all([
    call('POST', '/run_code', { body, checked: false }),
    loseAll(),
  ])
  const told = { status: 'SandboxError', run_result: null, fault: 'platform', retry: 'new_key' }
  t.match(answer, { status: 504, body: told })
})

t.test('SandboxFusion’s ask again when the queue is full, too', async (t) => {
  const full = await startServer(t, sql, { url, queueCapacity: 0 })
  const body = { language: 'python', code: '' }
  const answer = await full.call('POST', '/run_code', { body, checked: false })
  const told = { status: 'SandboxError', run_result: null, fault: 'platform', retry: 'after' }
  t.match(answer, { status: 504, body: told, headers: { 'retry-after': String } })
})

t.test('MCP’s get an error of the protocol', async (t) => {
  const params = { name: 'run_code', arguments: { language: 'python', code: '' } }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  const [answer] = await Promise.all([call('POST', '/mcp', { body, checked: false }), loseAll()])
  const data = { fault: 'platform', retry: 'new_key', id: String }
  t.match(answer, { status: 200, body: { id: 1, error: { code: -32603, data } } })
  const { id } = answer.body.error.data
  const again = { ...body, params: { name: 'get_result', arguments: { id } } }
  const told = await call('POST', '/mcp', { body: again, checked: false })
  t.match(told, { body: { error: { code: -32603, data: { fault: 'platform', id } } } })
})

t.test('Jobe’s get a status that CodeRunner does not grade', async (t) => {
  const body = { run_spec: { language_id: 'python3', sourcecode: '' } }
  const [{ status, text }] = await Promise.all([
    call('POST', '/jobe/restapi/runs', { body, checked: false }),
    loseAll(),
  ])
  t.equal(status, 500)
  t.equal(typeof JSON.parse(text), 'string')
})

t.test('Judge0’s get its Internal Error, with whose fault it is where they ask', async (t) => {
  const body = { language_id: 71, source_code: 'print(1)', expected_output: '2' }
  const fields = 'status,message,stdout,time,fault,retry'
  const [answer] = await Promise.all([
    call('POST', `/judge0/submissions?wait=true&fields=${fields}`, { body, checked: false }),
    loseAll(),
  ])
  const status = { id: 13, description: 'Internal Error' }
  const told = { status, message: /send it again/, stdout: null, time: null }
  t.match(answer, { status: 201, body: { ...told, fault: 'platform', retry: 'new_key' } })
})
