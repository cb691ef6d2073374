// The MCP door through the whole service, in both versions of the protocol: tools, failures, progress, cancellation, tasks.
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { startFreshServer, startServer } from '../../helper/server.ts'
import type { Answer, Call } from '../../helper/server.ts'
import { startWorkerProcess } from '../../helper/worker.ts'

const origin = 'https://agents.example'
const { call, issue, port, sql, url } = await startFreshServer(t, { corsOrigins: [origin] })
await startWorkerProcess(t, url, { LANGUAGES: 'python,cpp' })

const own = 'io.modelcontextprotocol'
const post = (body: unknown, more: Call = {}): Promise<Answer> =>
  call('POST', '/mcp', { body, checked: false, ...more })

/** Sends a request of the protocol version 2025-11-25. */
const ask = (method: string, params: object = {}, more: Call = {}): Promise<Answer> =>
  post({ jsonrpc: '2.0', id: 1, method, params }, more)

/** Sends a request of the protocol version 2026-07-28. */
const askAlone = (
  method: string,
  params: {
    readonly name?: string
    readonly taskId?: string
    readonly [field: string]: unknown
  } = {},
  {
    tasks = false,
    headers = {},
    meta = {},
  }: { tasks?: boolean; headers?: object; meta?: object } = {},
): Promise<Answer> =>
  post(
    {
      jsonrpc: '2.0',
      id: 'one',
      method,
      params: {
        ...params,
        _meta: {
          [`${own}/protocolVersion`]: '2026-07-28',
          [`${own}/clientCapabilities`]: tasks ? { extensions: { [`${own}/tasks`]: {} } } : {},
          ...meta,
        },
      },
    },
    {
      headers: {
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': method,
        ...((params.name ?? params.taskId) !== undefined && {
          'Mcp-Name': params.name ?? params.taskId,
        }),
        ...headers,
      },
    },
  )

const run = (code: string, more: object = {}): object => ({
  name: 'run_code',
  arguments: { language: 'python', code, ...more },
})

t.test('a handshake agrees on a version, and notifications are taken', async (t) => {
  for (const [asked, agreed] of [
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['1999-01-01', '2025-11-25'],
  ]) {
    const { status, body, headers } = await ask('initialize', { protocolVersion: asked })
    t.equal(status, 200)
    t.match(body, {
      id: 1,
      result: {
        protocolVersion: agreed,
        capabilities: { tools: {} },
        serverInfo: { name: 'runledger' },
      },
    })
    t.match(headers['mcp-session-id'], /^[0-9a-f-]{36}$/)
  }
  const notified = await post({ jsonrpc: '2.0', method: 'notifications/initialized' })
  t.match(notified, { status: 202, text: '' })
  t.match((await ask('ping')).body, { id: 1, result: {} })
})

t.test('tools have schemas of the API, which their answers keep', async (t) => {
  const { body } = await ask('tools/list')
  const tools = body.result.tools as { name: string; inputSchema: object; outputSchema: object }[]
  const names = tools.map(({ name }) => name)
  t.strictSame(names, ['run_code', 'run_tests', 'list_languages', 'get_result'])
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const calls: Record<string, object> = {
    run_code: { language: 'python', code: 'print(1)' },
    run_tests: { language: 'python', code: '', tests: [{ expected_stdout: '' }] },
    list_languages: {},
  }
  for (const { name, inputSchema, outputSchema } of tools) {
    t.match(inputSchema, { type: 'object', additionalProperties: false }, name)
    const given = calls[name]
    if (given === undefined) continue
    t.ok(ajv.validate(inputSchema, given), `${name} takes its own example`)
    const { result } = (await ask('tools/call', { name, arguments: given })).body
    t.ok(ajv.validate(outputSchema, result.structuredContent), `${name}: ${ajv.errorsText()}`)
    t.strictSame(JSON.parse(result.content[0].text), result.structuredContent)
  }
})

t.test('a program gets all that it is given, and is read again by its id', async (t) => {
  const code =
    'import os, sys\nprint(input(), sys.argv[1:], open("a.txt").read(), os.environ["GIVEN"])'
  const params = run(code, {
    stdin: 'one',
    args: ['two'],
    files: [{ name: 'a.txt', content: 'three' }],
    env: { GIVEN: 'four' },
    limits: { wall_time: 5 },
  })
  const { result } = (await ask('tools/call', params)).body
  t.match(result, {
    isError: false,
    structuredContent: { verdict: 'AC', stdout: "one ['two'] three four\n" },
  })
  const { id } = result.structuredContent
  for (const wait of [true, false]) {
    const read = await ask('tools/call', { name: 'get_result', arguments: { id, wait } })
    const told = { isError: false, structuredContent: { id, verdict: 'AC' } }
    t.match(read.body.result, told)
  }
})

t.test('a program that fails is an error with its record', async (t) => {
  const tests = [
    { stdin: '1', expected_stdout: '1' },
    { stdin: '2', expected_stdout: '3' },
  ]
  const rows: readonly [object, object][] = [
    [run('exit(3)'), { verdict: 'RE', exit_code: 3, fault: 'program', retry: 'never' }],
    [run('while True: pass', { limits: { cpu_time: 0.3 } }), { verdict: 'TLE' }],
    [
      { name: 'run_code', arguments: { language: 'cpp', code: 'int main( {' } },
      { verdict: 'CE', compile_output: /error/ },
    ],
    [
      { name: 'run_tests', arguments: { language: 'python', code: 'print(input())', tests } },
      { verdict: 'WA', tests: [{ verdict: 'AC' }, { verdict: 'WA' }] },
    ],
  ]
  for (const [params, structuredContent] of rows)
    t.match((await ask('tools/call', params)).body.result, { isError: true, structuredContent })
})

t.test('mistakes in arguments are told to the model, each with its place', async (t) => {
  const rows: readonly [string, object, RegExp][] = [
    ['run_code', { code: 1, tests: [] }, /code must be a string.*language is required|language is required.*code/],
    ['run_code', { language: 'python', code: '', webhook_url: 'x' }, /webhook_url is not a field of run_code/],
    ['run_code', { language: 'klingon', code: '' }, /language/],
    ['run_code', { language: 'python', code: '', limits: { wall_time: 1e9 } }, /limits.wall_time/],
    ['run_tests', { language: 'python', code: '' }, /tests is required/],
    ['get_result', { id: 'one' }, /id must be a UUID/],
    ['get_result', { id: '01890000-0000-7000-8000-000000000000' }, /no such submission/],
    ['list_languages', { all: true }, /all is not a field of list_languages/],
  ] // prettier-ignore
  for (const [name, given, message] of rows) {
    const { result } = (await ask('tools/call', { name, arguments: given })).body
    t.equal(result.isError, true, name)
    t.equal(result.structuredContent, undefined)
    t.match(JSON.parse(result.content[0].text), { message, fault: 'caller', retry: 'never' })
  }
})

t.test('what is no request of the protocol is refused in its shape', async (t) => {
  const request = { jsonrpc: '2.0', id: 1, method: 'ping' }
  const evil = { Origin: 'http://evil.example' }
  const rows: readonly [unknown, Call, number, object][] = [
    ['{', {}, 400, { code: -32700 }],
    [[request], {}, 400, { code: -32600, message: /Batches/ }],
    ['1', {}, 400, { code: -32600 }],
    [{ ...request, jsonrpc: '1.0' }, {}, 400, { code: -32600 }],
    [{ ...request, id: null }, {}, 400, { code: -32600 }],
    [{ jsonrpc: '2.0', id: 1 }, {}, 400, { code: -32600 }],
    [request, { headers: { 'Content-Type': 'text/plain' } }, 415, { code: 415 }],
    [request, { headers: { 'MCP-Protocol-Version': '1999-01-01' } }, 400, { code: -32022 }],
    [request, { headers: evil }, 403, { code: 403 }],
    [request, { headers: { ...evil, Host: 'evil.example' } }, 403, { code: 403 }],
    [request, { key: null }, 401, { code: 401, data: { fault: 'caller', retry: 'never' } }],
    [{ ...request, method: 'resources/list' }, {}, 200, { code: -32601 }],
    [{ ...request, method: 'toString' }, {}, 200, { code: -32601 }],
    [{ ...request, method: 'tools/call', params: { name: 'toString' } }, {}, 200, { code: -32602 }],
  ]
  for (const [body, more, status, error] of rows) {
    const told = { status, body: { jsonrpc: '2.0', error } }
    t.match(await post(body, more), told, JSON.stringify(body))
  }
  for (const Origin of [origin, `http://localhost:${port}`])
    t.equal((await post(request, { headers: { Origin } })).status, 200, Origin)
  for (const method of ['GET', 'DELETE'])
    t.match(await call(method, '/mcp', { checked: false }), {
      status: 405,
      headers: { allow: 'POST' },
      body: { error: { code: 405 } },
    })
  const bearer = { authorization: `Bearer ${await issue()}` }
  t.equal((await post(request, { key: null, headers: bearer })).status, 200)
})

t.test('a request by itself has its version and capabilities, mirrored in headers', async (t) => {
  t.match((await askAlone('server/discover')).body, {
    id: 'one',
    result: {
      resultType: 'complete',
      supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18'],
      capabilities: { tools: {}, extensions: { [`${own}/tasks`]: {} } },
      ttlMs: Number,
      cacheScope: 'public',
      _meta: { [`${own}/serverInfo`]: { name: 'runledger', version: String } },
    },
  })
  const { body } = await askAlone('tools/call', run('print(1)') as { name: string })
  t.match(body.result, { resultType: 'complete', structuredContent: { stdout: '1\n' } })
  const encoded = `=?base64?${Buffer.from('list_languages').toString('base64')}?=`
  const languages = { name: 'list_languages', arguments: {} }
  t.equal(
    (await askAlone('tools/call', languages, { headers: { 'Mcp-Name': encoded } })).status,
    200,
  )
  const former = { 'MCP-Protocol-Version': '2025-11-25' }
  const incapable = { [`${own}/clientCapabilities`]: undefined }
  const rows: readonly [Promise<Answer>, number, number][] = [
    [askAlone('ping'), 404, -32601],
    [askAlone('initialize'), 404, -32601],
    [askAlone('tools/list', {}, { headers: { 'Mcp-Method': 'tools/call' } }), 400, -32020],
    [askAlone('tools/call', languages, { headers: { 'Mcp-Name': 'run_code' } }), 400, -32020],
    [askAlone('tools/call', languages, { headers: former }), 400, -32020],
    [askAlone('tools/list', {}, { meta: incapable }), 400, -32602],
    [askAlone('tasks/get', { taskId: 'none' }), 400, -32021],
    [askAlone('tasks/get', { taskId: 'none' }, { tasks: true }), 200, -32602],
  ]
  for (const [answer, status, code] of rows)
    t.match(await answer, { status, body: { id: 'one', error: { code } } })
})

/** Calls a program that never ends, and waits until progress has named the submission and says that it runs. */
async function begin(key: string, headers: object, meta: object = {}): Promise<Begun> {
  const params = { ...run('import time\nwhile True: time.sleep(1)', { limits: { wall_time: 60 } }) }
  const request = httpRequest({
    port,
    path: '/mcp',
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  })
  request.on('error', () => {})
  request.end(
    JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: { ...params, _meta: { progressToken: 'token', ...meta } },
    }),
  )
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.setEncoding('utf8')
  let text = ''
  response.on('data', (chunk: string) => (text += chunk))
  response.on('error', () => {})
  const id = async (): Promise<string> => {
    for (;;) {
      const found = /"message":"submission ([0-9a-f-]{36})"/.exec(text)?.[1]
      if (found !== undefined && text.includes('"message":"running"')) return found
      await sleep(20)
    }
  }
  return { request, response, id: await id(), text: () => text }
}

interface Begun {
  readonly request: ClientRequest
  readonly response: IncomingMessage
  readonly id: string
  readonly text: () => string
}

async function untilStatus(key: string, id: string, status: string): Promise<void> {
  while ((await call('GET', `/api/result/${id}`, { key })).body.status !== status) await sleep(50)
}

t.test('progress tells of the run, its start and each test, then the answer comes', async (t) => {
  // JSON leaves these line ends of Unicode as they are.
  const tests = [{ name: 'x\u2028y\u2029', expected_stdout: 'a' }, { expected_stdout: 'b' }]
  const code = 'import time\nprint("a")\ntime.sleep(1)'
  const given = { language: 'python', code, tests }
  const params = { name: 'run_tests', arguments: given, _meta: { progressToken: 5 } }
  const { headers, text } = await ask('tools/call', params, {
    headers: { Accept: 'application/json, text/event-stream' },
  })
  t.match(headers['content-type'], /^text\/event-stream/)
  const messages = Array.from(text.matchAll(/^data: ([^\n]*)/gm), ([, data = '']) =>
    JSON.parse(data),
  )
  const last = messages.pop()
  t.ok(messages.some(({ params: { message } }) => message === 'test 1: AC'))
  t.match(last, { id: 1, result: { isError: true, structuredContent: { verdict: 'WA' } } })
  t.match(messages[0].params, {
    progressToken: 5,
    progress: 0,
    message: `submission ${last.result.structuredContent.id}`,
  })
  t.strictSame(
    messages.map(({ method, params: { progress } }) => [method, progress]),
    messages.map((_, index) => ['notifications/progress', index]),
  )
  t.notMatch((await ask('tools/call', params)).headers['content-type'], /event-stream/, 'unasked')
})

t.test('who asks for progress and does not read it is let go while the run goes on', async (t) => {
  const streamBounds = { slowReaderMilliseconds: 300 }
  const { port: there, countConnections } = await startServer(t, sql, { url, streamBounds })
  const key = await issue()
  const before = await countConnections()
  const slow = connect(there, '127.0.0.1')
  slow.on('error', () => {})
  slow.pause()
  // Each notification repeats the token, so that together they exceed what the kernel buffers for a client that does not
  // read.
  const tests = [...Array<string>(20).fill('0'), ...Array<string>(6).fill('9')]
  const params = {
    name: 'run_tests',
    arguments: {
      language: 'python',
      code: 'import time\ntime.sleep(float(input()))',
      tests: tests.map((stdin) => ({ stdin })),
    },
    _meta: { progressToken: 'x'.repeat(1_500_000) },
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params })
  slow.write(
    `POST /mcp HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  const list = async (): Promise<{ id: string; status: string }[]> =>
    (await call('GET', '/api/submissions', { key })).body.submissions
  while ((await list()).length === 0) await sleep(10)
  while ((await countConnections()) > before) await sleep(10)
  const [{ id, status } = { id: '', status: '' }] = await list()
  t.equal(status, 'running')
  await call('POST', `/api/result/${id}/cancel`, { key })
  await untilStatus(key, id, 'cancelled')
})

t.test('a client cancels its call, and nobody else’s', async (t) => {
  const key = await issue()
  const session = { 'Mcp-Session-Id': 'ours' }
  const begun = await begin(key, session)
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }
  for (const [by, headers] of [
    [await issue(), session],
    [key, { 'Mcp-Session-Id': 'another' }],
    [key, {}],
  ] as const)
    t.equal((await post(cancel, { key: by, headers })).status, 202)
  await sleep(300)
  const told = (await call('GET', `/api/result/${begun.id}`, { key })).body
  t.match(told, { status: 'running', cancel_requested_at: null })
  await post(cancel, { key, headers: session })
  await once(begun.response, 'end')
  t.notMatch(begun.text(), /"result"/, 'and no answer')
  await untilStatus(key, begun.id, 'cancelled')
})

t.test('who hangs up cancels by the version of 2026, and not by the one before', async (t) => {
  const key = await issue()
  const alone = {
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': 'tools/call',
    'Mcp-Name': 'run_code',
  }
  const now = await begin(key, alone, {
    [`${own}/protocolVersion`]: '2026-07-28',
    [`${own}/clientCapabilities`]: {},
  })
  const before = await begin(key, {})
  now.request.destroy()
  before.request.destroy()
  await untilStatus(key, now.id, 'cancelled')
  await sleep(300)
  const answer = (await call('GET', `/api/result/${before.id}`, { key })).body
  t.match(answer, { status: 'running', cancel_requested_at: null })
  await call('POST', `/api/result/${before.id}/cancel`, { key })
})

t.test('a task is a submission, which goes on without its client', async (t) => {
  const tasks = { tasks: true }
  const finish = async (params: object): Promise<Answer['body']> => {
    const { body } = await askAlone('tools/call', params as { name: string }, tasks)
    const { taskId } = body.result
    t.match(body.result, { resultType: 'task', taskId: /^[0-9a-f-]{36}$/, ttlMs: null })
    t.equal((await call('GET', `/api/result/${taskId}`)).status, 200, 'stored before it is told')
    for (;;) {
      const { result } = (await askAlone('tasks/get', { taskId }, tasks)).body
      t.match(result, { resultType: 'complete', taskId, createdAt: /Z$/, lastUpdatedAt: /Z$/ })
      if (result.status !== 'working') return result
    }
  }
  t.match(await finish(run('print(1)')), {
    status: 'completed',
    result: { isError: false, structuredContent: { stdout: '1\n' } },
  })
  t.match(await finish(run('exit(1)')), { status: 'completed', result: { isError: true } })
  const long = run('while True: pass', { limits: { cpu_time: 30 } }) as { name: string }
  const { taskId } = (await askAlone('tools/call', long, tasks)).body.result
  t.match(await askAlone('tasks/update', { taskId, inputResponses: {} }, tasks), { status: 200 })
  const answer = await askAlone('tasks/cancel', { taskId }, tasks)
  t.match(answer, { status: 200, body: { result: { resultType: 'complete' } } })
  for (;;) {
    const { result } = (await askAlone('tasks/get', { taskId }, tasks)).body
    if (result.status === 'cancelled') break
    t.equal(result.status, 'working')
  }
  const key = await issue()
  const other = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
  const foreign = { name: 'get_result', arguments: { id: taskId } }
  const { body } = await post({ ...other, params: foreign }, { key })
  t.match(body.result, { isError: true, content: [{ text: /no such submission/ }] })
})
