// The MCP door with the protocol's own npm libraries: sdk 1, client 2 and conformance.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t from 'tap'
import { ask, folder } from './clients.ts'
import { startDoorService } from './service.ts'

const { service, key, startProxy, startAnother } = await startDoorService(t, 'python,cpp')
const environment = { SERVER: `${service}/mcp`, KEY: key }

/** Calls a program without end, and cancels the call once it runs. */
const cancelling = `const aborted = new AbortController()
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
    while (cancelled === 'running')`

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
    ${cancelling}
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

const modern = `
  import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
  const headers = { Authorization: 'Bearer ' + process.env.KEY }
  const connect = async (mode, capabilities = {}) => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, capabilities })
    await client.connect(new StreamableHTTPClientTransport(new URL(process.env.SERVER), { requestInit: { headers } }))
    return client
  }`

for (const [mode, era] of [
  ['auto', 'modern'],
  ['legacy', 'legacy'],
] as const)
  t.test(`client 2, which is told ${mode}`, async (t) => {
    const script = `${modern}
    const client = await connect('${mode}')
    const { tools } = await client.listTools()
    const call = (name, given, more) => client.callTool({ name, arguments: given }, more)
    const progress = []
    const good = await call('run_code', { language: 'python', code: 'print(input())', stdin: 'one' },
      { onprogress: ({ message }) => progress.push(message) })
    const bad = await call('run_tests', { language: 'python', code: 'print(1)', tests: [{ expected_stdout: '2' }] })
    const unknown = await call('fly', {}).catch(({ code }) => code)
    const { structuredContent: { languages } } = await call('list_languages', {})
    ${cancelling}
    console.log(JSON.stringify({
      era: client.getProtocolEra(), tools: tools.map(({ name }) => name), good, progress, bad, unknown,
      languages: languages.map(({ name }) => name), cancelled,
    }))
    process.exit()`
    t.match(await ask('node', script, environment), {
      era,
      tools: ['run_code', 'run_tests', 'list_languages', 'get_result'],
      good: { isError: false, structuredContent: { stdout: 'one\n' } },
      progress: [/^submission /],
      bad: { isError: true, structuredContent: { verdict: 'WA' } },
      unknown: -32602,
      languages: ['cpp', 'python'],
      cancelled: 'cancelled',
    })
  })

// The libraries' own access to tasks: client 2 leaves tasks to ext-tasks, which sends through the function that it is given.
const tasks = `${modern}
  import { createTaskSessionFromClient, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client'
  const clientCapabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
  const client = await connect('auto', clientCapabilities)
  const session = createTaskSessionFromClient(client, {
    endpointId: 'runledger',
    rawDispatch: async ({ method, params }) => {
      const response = await fetch(process.env.SERVER, {
        method: 'POST',
        headers: {
          ...headers, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream',
          'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method, 'Mcp-Name': params.name ?? params.taskId,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      const { result, error } = await response.json()
      return error === undefined ? { kind: 'result', result } : { kind: 'error', error }
    },
    v2RequestFraming: { protocolVersion: '2026-07-28', clientInfo: { name: 'test', version: '1' }, clientCapabilities },
  })`

t.test('client 2 and ext-tasks: a task goes on without its client and web process', async (t) => {
  let reference = ''
  await t.test('it begins', async (t) => {
    const script = `${tasks}
      const code = 'import time; time.sleep(3); print("done")'
      const execution = await session.callTool('run_code', { language: 'python', code })
      await execution.handoff((reference) => console.log(JSON.stringify(reference)))
      process.exit()`
    reference = JSON.stringify(
      await ask('node', script, { ...environment, SERVER: `${await startAnother(t)}/mcp` }),
    )
  })
  const script = `${tasks}
    const execution = await session.resumeTask(JSON.parse(process.env.REFERENCE))
    console.log(JSON.stringify(resultFromTaskOutcome((await execution.settle()).outcome)))
    process.exit()`
  t.match(await ask('node', script, { ...environment, REFERENCE: reference }), {
    isError: false,
    structuredContent: { verdict: 'AC', stdout: 'done\n' },
  })
})

t.test('both over standard input and output, by `runledger mcp`', async (t) => {
  const script = `
    import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
    import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js'
    import { Client as Client2 } from '@modelcontextprotocol/client'
    import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio'
    const { RUNLEDGER_URL, RUNLEDGER_API_KEY, PATH, CLI } = process.env
    const server = { command: process.execPath, args: [CLI, 'mcp'], env: { RUNLEDGER_URL, RUNLEDGER_API_KEY, PATH } }
    const told = []
    for (const [client, transport] of [
      [new Client1({ name: 'test', version: '1' }), new Stdio1(server)],
      [new Client2({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } }), new Stdio2(server)],
    ]) {
      await client.connect(transport)
      const { tools } = await client.listTools()
      const { structuredContent } = await client.callTool({ name: 'run_code', arguments: { language: 'python', code: 'print(1)' } })
      told.push({ tools: tools.length, stdout: structuredContent.stdout, era: client.getProtocolEra?.() })
      await client.close()
    }
    console.log(JSON.stringify(told))`
  const more = {
    RUNLEDGER_URL: service,
    RUNLEDGER_API_KEY: key,
    CLI: resolve(import.meta.dirname, '../../src/cli/cli.ts'),
  }
  t.strictSame(await ask('node', script, more), [
    { tools: 4, stdout: '1\n' },
    { tools: 4, stdout: '1\n', era: 'modern' },
  ])
})

// Version 0.1.16 knows only 2025-11-25; this one knows both revisions. The conformance program sends no key, and calls
// tools, resources and prompts of its own example server, which do not exist here. Checks that fail only for this reason do
// not apply.
const proxy = await startProxy()
const conformance = join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')

/** Scenarios of which nothing applies except that the answer follows the protocol. */
const absent: readonly [RegExp, string][] = [
  [/^tools-call-|^json-schema-2020-12$/, 'they call tools of the example server'],
  [/^(elicitation|input-required-result)-/, 'no tool here asks its client anything'],
  [/^http-custom-header-/, 'no argument of a tool here is a header, too'],
  [/^(resources|prompts)-/, 'there are tools alone'],
  [/^(completion-complete|logging-set-level)$/, 'there are tools alone'],
]
/** Checks that do not apply, in scenarios that do. */
const absentChecks: readonly [RegExp, string][] = [
  [/^sep-2575-(server-rejects-undeclared|missing-capability)/, 'no tool here needs a capability'],
  [/^sep-2575-http-server-no-independent-requests/, 'no tool here asks its client anything'],
  [/^sep-2575-server-no-log-without-loglevel$/, 'the tool is the example server’s'],
  [/^sep-2549-(prompts|resources)-/, 'there are tools alone'],
]
const whole = ['tools-list', 'dns-rebinding-protection', 'server-sse-multiple-streams'] as const
const applying = {
  '2025-11-25': [...whole, 'server-initialize', 'server-session-lifecycle', 'ping'],
  '2026-07-28': [...whole, 'server-stateless', 'caching', 'http-header-validation'],
} as const

interface Check {
  readonly id: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  readonly errorMessage?: string
}

/** @returns the checks of each scenario, and the last line of the report. */
async function conform(
  words: readonly string[],
): Promise<{ readonly checks: ReadonlyMap<string, readonly Check[]>; readonly line: string }> {
  const results = mkdtempSync(join(tmpdir(), 'runledger-mcp-'))
  const given = [conformance, 'server', '--url', `${proxy}/mcp`, '-o', results, ...words]
  // The exit status is ignored, because checks that do not apply make it fail.
  const report = await new Promise<string>((resolve) => {
    execFile(process.execPath, given, { cwd: folder, timeout: 300_000 }, (_error, stdout) =>
      resolve(stdout),
    )
  })
  const checks = readdirSync(results).map((name) => {
    const scenario = /^server-(.*?)-\d{4}-\d\d-\d\dT/.exec(name)?.[1] ?? name
    return [
      scenario,
      JSON.parse(readFileSync(join(results, name, 'checks.json'), 'utf8')) as Check[],
    ] as const
  })
  rmSync(results, { recursive: true })
  return { checks: new Map(checks), line: report.trim().split('\n').at(-1) ?? '' }
}

for (const version of ['2025-11-25', '2026-07-28'] as const)
  t.test(`conformance, ${version}`, async (t) => {
    const { checks, line } = await conform(['--suite', 'all', '--spec-version', version])
    t.comment(`doors: MCP conformance ${version}: ${line}; what failed does not apply`)
    for (const name of applying[version])
      t.ok(
        checks.get(name)?.some(({ status }) => status === 'SUCCESS' || status === 'INFO'),
        `${name} applies`,
      )
    for (const [name, ofScenario] of checks) {
      if (absent.some(([pattern]) => pattern.test(name))) continue
      for (const { id, status, errorMessage } of ofScenario)
        if (!absentChecks.some(([pattern]) => pattern.test(id)))
          t.not(status, 'FAILURE', `${name}: ${id} ${errorMessage ?? ''}`)
    }
  })

t.test('conformance, tasks', async (t) => {
  // All other scenarios need tools of the example server.
  const rows: Readonly<Record<string, readonly string[]>> = {
    'tasks-capability-negotiation': [
      'tasks-extension-advertised',
      'sep-2663-tasks-methods-non-declaring',
    ],
    'tasks-dispatch-and-envelope': [
      'sep-2663-tasks-result-removed-method-not-found',
      'tasks-removed-tasks-list',
      'sep-2663-tasks-get-invalid-task-id-32602',
    ],
    'tasks-request-headers': ['tasks-headers-reject-mismatched-method'],
  }
  for (const [scenario, ids] of Object.entries(rows)) {
    const { checks } = await conform(['--scenario', scenario])
    for (const wanted of [...ids, 'wire-schema-valid'])
      t.match(
        checks.get(scenario)?.find(({ id }) => id === wanted),
        { status: 'SUCCESS' },
        wanted,
      )
  }
})
