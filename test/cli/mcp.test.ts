// The command `mcp` passes messages on standard input to the service's POST /mcp, and the answers to standard output.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { readLine } from '../../src/cli/arguments.ts'
import { CommandError } from '../../src/cli/command.ts'
import { commands } from '../../src/cli/commands.ts'
import { relay } from '../../src/cli/mcp.ts'
import { finish, listPending, pretendWorker } from '../helper/execution.ts'
import { startFreshServer } from '../helper/server.ts'

const server = await startFreshServer(t)
const { sql } = server
const apiKey = await server.issue()
const service = new URL(`http://127.0.0.1:${server.port}/mcp`)
const offered = { version: 'Python 3.11.2', compile: null, run: ['python3', 'main.py'], limits: {} }
await pretendWorker(sql, { python: offered })

// eslint-disable-next-line typescript/no-explicit-any -- a test looks into it as it likes
type Line = any

interface Relayed {
  readonly say: (message: unknown) => void
  /** Resolves with the next line. */
  readonly hear: () => Promise<Line>
  readonly end: () => Promise<void>
}

function start(t: Test, to = service, key = apiKey): Relayed {
  const input = new PassThrough()
  const output = new PassThrough()
  const ended = relay(to, key, input, output)
  t.teardown(() => input.end())
  const lines = createInterface({ input: output })[Symbol.asyncIterator]()
  return {
    say: (message) =>
      void input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
    hear: async () => JSON.parse((await lines.next()).value ?? 'null') as unknown,
    async end() {
      input.end()
      await ended
    },
  }
}

const request = (id: number, method: string, params: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const run = { name: 'run_code', arguments: { language: 'python', code: '' } }

async function pending(): Promise<string> {
  for (;;) {
    const [id] = await listPending(sql)
    if (id !== undefined) return id
  }
}

t.test('both versions pass, by their own headers', async (t) => {
  const { say, hear, end } = start(t)
  say(request(1, 'initialize', { protocolVersion: '2025-11-25' }))
  t.match(await hear(), { id: 1, result: { protocolVersion: '2025-11-25' } })
  say({ jsonrpc: '2.0', method: 'notifications/initialized' })
  say('')
  say(request(2, 'tools/list'))
  t.match(await hear(), { id: 2, result: { tools: [{ name: 'run_code' }] } })
  say(request(3, 'server/discover', { _meta: meta }))
  t.match(await hear(), { id: 3, result: { resultType: 'complete' } })
  say(request(4, 'tools/call', { name: 'ä', arguments: {}, _meta: meta }))
  t.match(await hear(), { id: 4, error: { code: -32602, message: /ä/ } })
  say('{')
  t.match(await hear(), { error: { code: -32700 } })
  say('null')
  t.match(await hear(), { error: { code: -32600 } })
  say(request(4, 'tools/call', { name: 'a\u2028b', arguments: {}, _meta: meta }))
  t.match(await hear(), { id: 4, error: { code: -32602, message: /a\u2028b/ } })
  say(request(5, 'tools/call', { ...run, _meta: { progressToken: 'a' } }))
  t.match(await hear(), { method: 'notifications/progress', params: { progressToken: 'a' } })
  await finish(sql, await pending(), { stdout: 'a\u2028b' })
  let line: Line
  do line = await hear()
  while (line.id === undefined)
  t.match(line, {
    id: 5,
    result: { isError: false, structuredContent: { verdict: 'AC', stdout: 'a\u2028b' } },
  })
  await end()
})

t.test('a call is cancelled in either version', async (t) => {
  const { say, hear } = start(t)
  say(request(1, 'initialize', { protocolVersion: '2025-11-25' }))
  await hear()
  for (const [id, _meta] of [
    [2, {}],
    [3, meta],
  ] as const) {
    say(request(id, 'tools/call', { ...run, _meta }))
    const submission = await pending()
    say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
    const status = async (): Promise<string> =>
      (await server.call('GET', `/api/result/${submission}`, { key: apiKey })).body.status
    while ((await status()) !== 'cancelled') await sleep(20)
  }
  say(request(4, 'ping'))
  t.match(await hear(), { id: 4, result: {} }, 'and neither was answered')
})

t.test('what a service refuses, or does not answer, has its request’s id', async (t) => {
  const refused = start(t, service, 'rl_live_wrong')
  refused.say(request(7, 'tools/list'))
  t.match(await refused.hear(), { id: 7, error: { code: 401, data: { fault: 'caller' } } })
  const other = createServer((_request, response) => response.writeHead(502).end('<html>'))
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = new URL(`http://127.0.0.1:${(other.address() as AddressInfo).port}/mcp`)
  const strange = start(t, address)
  strange.say(request(8, 'tools/list'))
  t.match(await strange.hear(), { id: 8, error: { code: -32603, message: /502/ } })
  other.closeAllConnections()
  other.close()
  await once(other, 'close')
  strange.say(request(9, 'tools/list'))
  t.match(await strange.hear(), { id: 9, error: { code: -32603, message: /ECONNREFUSED/ } })
})

t.test('after the end of the input nothing is said to have had no answer', async (t) => {
  const [input, output] = [new PassThrough(), new PassThrough()]
  input.end(`${JSON.stringify(request(1, 'tools/call', run))}\n`)
  await relay(service, apiKey, input, output)
  await sleep(20)
  t.equal(output.read(), null)
})

t.test('a key does not go over plain HTTP', async (t) => {
  const reading = readLine(commands, [
    'mcp',
    '--url',
    'http://example.com',
    '--key-file',
    'README.md',
  ])
  if ('help' in reading) throw new Error('no help was asked for')
  await t.rejects(async () => reading.command.run(reading.call), CommandError)
})
