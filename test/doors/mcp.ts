// The MCP door with the protocol's own libraries: npm's sdk 1, client 2 and conformance.
import t from 'tap'
import { ask } from './clients.ts'
import { startDoorService } from './service.ts'

const { service, key } = await startDoorService(t, 'python,cpp')
const environment = { SERVER: `${service}/mcp`, KEY: key }

t.test('sdk 1, by the version of 2025-11-25', async (t) => {
  const script = `
    import { Client } from '@modelcontextprotocol/sdk/client/index.js'
    import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
    const client = new Client({ name: 'test', version: '1' })
    const headers = { Authorization: 'Bearer ' + process.env.KEY }
    const transport = new StreamableHTTPClientTransport(new URL(process.env.SERVER), { requestInit: { headers } })
    await client.connect(transport)
    const { tools } = await client.listTools()
    const call = (name, given, more) => client.callTool({ name, arguments: given }, undefined, more)
    const progress = []
    const good = await call('run_code', { language: 'python', code: 'print(input())', stdin: 'one' },
      { onprogress: ({ message }) => progress.push(message) })
    const bad = await call('run_code', { language: 'cpp', code: 'int main( {' })
    const none = await call('run_code', { language: 'klingon', code: '' })
    const unknown = await call('fly', {}).catch(({ code }) => code)
    const { id } = good.structuredContent
    const again = await call('get_result', { id })
    const { structuredContent: { languages } } = await call('list_languages', {})
    const aborted = new AbortController()
    let started
    await call('run_code', { language: 'python', code: 'while True: pass', limits: { cpu_time: 60, wall_time: 60 } }, {
      signal: aborted.signal,
      onprogress: ({ message }) => {
        started ??= message.split(' ')[1]
        if (message === 'running') aborted.abort()
      },
    }).catch(() => {})
    let cancelled
    do ({ structuredContent: { status: cancelled } } = await call('get_result', { id: started, wait: true }))
    while (cancelled === 'running')
    await client.close()
    console.log(JSON.stringify({
      version: transport.protocolVersion, tools: tools.map(({ name }) => name), good, progress, bad, none, unknown, again,
      languages: languages.map(({ name }) => name), cancelled,
    }))`
  t.match(await ask('node', script, environment), {
    version: '2025-11-25',
    tools: ['run_code', 'run_tests', 'list_languages', 'get_result'],
    good: { isError: false, structuredContent: { stdout: 'one\n' } },
    progress: [/^submission /],
    bad: { isError: true, structuredContent: { verdict: 'CE', compile_output: /error/ } },
    none: { isError: true, content: [{ text: /language must be one of/ }] },
    unknown: -32602,
    again: { structuredContent: { verdict: 'AC' } },
    languages: ['cpp', 'python'],
    cancelled: 'cancelled',
  })
})
