// Sends generated requests to each door. Every answer has the door's own shape, none is a 5xx, and a request without a key is
// refused. An accepted request has passed the API's checks, so it is a submission that ends. The seed is printed; SEED
// repeats a run.
import * as fc from 'fast-check'
import t from 'tap'
import { finish } from '../../helper/execution.ts'
import { seed } from '../../helper/seed.ts'
import { startFreshServer } from '../../helper/server.ts'

const { call, sql } = await startFreshServer(t)
t.comment(`SEED=${seed}`)

// Ends every accepted submission, in place of a worker.
async function endAll(): Promise<void> {
  const rows = await sql<{ id: string }[]>`
    select submission_id as id from runledger.pending where run is null`.catch(() => [])
  for (const { id } of rows) await finish(sql, id).catch(() => {})
}
const ending = setInterval(() => void endAll(), 50)
t.teardown(() => clearInterval(ending))

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    'python',
    'cpp',
    'r',
    '',
    '*',
    '3.x',
    '../a',
    'a.py',
    '\0',
    '\ud800',
    'aGk=',
    '71',
    'constructor',
    'toString',
  ),
)
const value = fc.oneof(
  { weight: 3, arbitrary: text },
  fc.constantFrom(null, true, -1, 0, 0.5, 1, 71, 1000, 1e9, 1e308, [], {}, [{ toString: 0 }, 'a']),
  fc.array(text, { maxLength: 3 }),
  fc.constantFrom({ toString: 0 }, [[{ toString: 0 }, 'a']]),
  fc.dictionary(text, fc.oneof(text, fc.constant(null)), { maxKeys: 3 }),
  fc.array(fc.record({ name: text, content: text, encoding: text }, { requiredKeys: [] }), {
    maxLength: 3,
  }),
)
const bodyOf = (names: readonly string[]): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.dictionary(fc.constantFrom(...names, '__proto__', 'extra'), value) },
    fc.jsonValue(),
  )

const piston = ['language', 'version', 'files', 'stdin', 'args', 'env', 'run_timeout']
const pistonLimits = ['compile_timeout', 'run_cpu_time', 'run_memory_limit', 'compile_memory_limit']
const fusion = ['code', 'language', 'stdin', 'run_timeout', 'compile_timeout', 'memory_limit_MB']
const judge0 = ['source_code', 'language_id', 'stdin', 'expected_output', 'compiler_options']
const judge0Limits = ['cpu_time_limit', 'memory_limit', 'stack_limit', 'max_file_size']
const judge0Others = ['command_line_arguments', 'number_of_runs', 'callback_url', 'enable_network']
interface Row {
  readonly path: string
  readonly names: readonly string[]
  /** The status of an accepted request; 200 by default. */
  readonly success?: number
  readonly refusals: readonly number[]
  /** The status of a refusal that has only fields and their messages, and no `fault`. */
  readonly withoutFault?: number
}
const rows: readonly Row[] = [
  { path: '/api/v2/execute', names: [...piston, ...pistonLimits], refusals: [400] },
  { path: '/run_code', names: [...fusion, 'files', 'fetch_files', 'args'], refusals: [422] },
  {
    path: '/judge0/submissions?wait=true&fields=*&base64_encoded=true',
    names: [...judge0, ...judge0Limits, ...judge0Others, 'additional_files'],
    success: 201,
    refusals: [400, 422],
    withoutFault: 422,
  },
]

const runSpec = ['language_id', 'sourcecode', 'sourcefilename', 'input', 'file_list', 'parameters']
const parameters = ['cputime', 'memorylimit', 'numprocs', 'streamsize', 'compileargs', 'runargs']

t.test('/jobe/restapi/runs answers whatever it is sent', async (t) => {
  const specs = fc
    .tuple(bodyOf(runSpec), bodyOf(parameters), fc.boolean())
    .map(([spec, given, isSound]) => ({
      run_spec: {
        ...(isSound && { language_id: 'python3', sourcecode: '' }),
        ...Object(spec),
        parameters: given,
      },
    }))
  await fc.assert(
    fc.asyncProperty(fc.oneof(specs, bodyOf(['run_spec'])), async (body) => {
      const { status, text } = await call('POST', '/jobe/restapi/runs', { body, checked: false })
      const isRefusal = [400, 404].includes(status) && typeof JSON.parse(text) === 'string'
      if (status !== 200 && !isRefusal)
        throw new Error(`${status} ${text} for ${JSON.stringify(body)}`)
    }),
    { numRuns: 300, seed, endOnFailure: true },
  )
  const answer = await call('POST', '/jobe/restapi/runs', { key: null, body: {}, checked: false })
  t.equal(answer.status, 403, 'not without a key')
})

for (const { path, names, refusals, success = 200, withoutFault } of rows)
  t.test(`${path} answers whatever it is sent`, async (t) => {
    await fc.assert(
      fc.asyncProperty(bodyOf(names), async (body) => {
        const answer = await call('POST', path, { body, checked: false })
        const expected = [success, ...refusals]
        if (!expected.includes(answer.status))
          throw new Error(`${answer.status} ${answer.text} for ${JSON.stringify(body)}`)
        const isBlamed = answer.status !== success && answer.status !== withoutFault
        if (isBlamed && answer.body?.fault !== 'caller')
          throw new Error(`no fault in ${answer.text}`)
      }),
      { numRuns: 300, seed, endOnFailure: true },
    )
    const { status } = await call('POST', path, { key: null, body: {}, checked: false })
    t.equal(status, 401, 'not without a key')
  })

const million = Array.from({ length: 1_000_000 }, () => 1)
const many = Object.fromEntries(million.slice(0, 150_000).map((one, n) => [n, one]))
const python = { language: 'python', version: '3', code: '', files: [{ content: '' }] }
const jobePython = { language_id: 'python3', sourcecode: '' }
for (const [path, body] of [
  ['/api/v2/execute', { ...python, files: million }],
  ['/api/v2/execute', { ...python, args: million }],
  ['/api/v2/execute', { ...python, env: many }],
  ['/run_code', { ...python, files: many }],
  ['/run_code', { ...python, files: {}, args: million }],
  ['/run_code', { ...python, files: {}, fetch_files: million }],
  ['/jobe/restapi/runs', { run_spec: { ...jobePython, parameters: { runargs: million } } }],
] as const)
  t.test(`${path} does not check the parts of what has too many of them`, async (t) => {
    const { status, text } = await call('POST', path, { body, checked: false })
    t.match(text, /holds more than 1000 parts/, `${status}`)
  })

const tools = {
  run_code: ['language', 'code', 'stdin', 'args', 'files', 'env', 'limits'],
  run_tests: ['language', 'code', 'tests', 'checker'],
  list_languages: ['all'],
  get_result: ['id', 'wait'],
} as const
const toolCall = fc.constantFrom(...Object.keys(tools)).chain((name) =>
  bodyOf(tools[name as keyof typeof tools]).map((given) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: given },
  })),
)
const messageNames = ['jsonrpc', 'id', 'method', 'params', 'result', '_meta']

t.test('/mcp answers whatever it is sent', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(toolCall, bodyOf(messageNames)), async (body) => {
      const { status, text, body: answer } = await call('POST', '/mcp', { body, checked: false })
      const isRefused = status === 400 && answer?.error?.code < 0
      const isTold = status === 200 && (answer?.result ?? answer?.error) !== undefined
      if (!isRefused && !isTold && status !== 202)
        throw new Error(`${status} ${text} for ${JSON.stringify(body)}`)
      if (answer?.error?.code === -32603) throw new Error(`our fault: ${text}`)
    }),
    { numRuns: 300, seed, endOnFailure: true },
  )
  const { status } = await call('POST', '/mcp', { key: null, body: {}, checked: false })
  t.equal(status, 401, 'not without a key')
})
