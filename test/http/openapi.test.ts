// /openapi.json describes what the server serves. It is complete and well formed, and its examples work.
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import openapiTypeScript from 'openapi-typescript'
import type { OpenAPI3 } from 'openapi-typescript'
import t from 'tap'
import { checkAnswer, checkSchema, contract } from '../helper/contract.ts'
import { issueOperatorKey } from '../helper/operator.ts'
import { startFreshServer } from '../helper/server.ts'

const { call, sql } = await startFreshServer(t)
const { body: document } = await call('GET', '/openapi.json', { key: null, checked: false })

const operator = await issueOperatorKey(sql)

t.test('the document is OpenAPI 3.1 and served without a key', async (t) => {
  t.equal(document.openapi, '3.1.0')
  t.equal(document.info.title, 'Runledger')
  t.match(document.info.version, /^\d+\.\d+\.\d+$/)
  t.strictSame(document, contract)
})

t.test('a client that is generated from it has the types that a caller thinks in', async (t) => {
  t.strictSame(document.servers, [{ url: '/' }], 'it calls the server that it was read from')
  const { parameters, schemas } = document.components
  t.equal(parameters.wait.schema.type, 'boolean')
  t.strictSame(parameters.limit.schema, { type: 'integer', minimum: 1, maximum: 100 })
  // Client generators require the caller to give a field that has a default.
  t.notMatch(JSON.stringify([parameters, schemas]), '"default":')
  t.strictSame(schemas.Submission.required, ['language', 'code'])
})

t.test('every reference resolves, every operation has a name of its own', async (t) => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)]
  t.ok(references.length > 50)
  for (const [, path = ''] of references) {
    const target = path.split('/').reduce((node, name) => node?.[name], document)
    t.ok(target, path)
  }
  const operations = Object.values<object>(document.paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  )
  t.equal(new Set(operations).size, operations.length)
})

t.test('every schema says what it describes, to its leaves', (t) => {
  const keywords = ['items', 'additionalProperties', 'schema']
  const look = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null || path.endsWith('/examples')) return
    for (const [key, within] of Object.entries(value)) look(within, `${path}/${key}`)
    const [parent = '', key = ''] = path.split('/').slice(-2)
    const isSchema = keywords.includes(key) || ['properties', 'anyOf', 'oneOf'].includes(parent)
    if (isSchema) t.not(Object.keys(value).length, 0, path)
  }
  look(document, '')
  const { Submission, Batch } = document.components.schemas
  t.equal(Submission.properties.tests.items.properties.stdin.type, 'string')
  t.strictSame(Batch.properties.submissions.items, { $ref: '#/components/schemas/Submission' })
  t.end()
})

t.test('what a client generator makes of it refuses a wrong request when it is compiled', async (t) => {
  const judged = '{ type: "program", language: "cpp", code: "", files: [{ name: "a", content: "" }] }'
  const right = [
    'tests: [{ name: "a", stdin: "5", expected_stdout: "5", args: ["a"] }], stop_on_failure: true',
    'files: [{ name: "a", content: "", encoding: "base64" }], output_files: ["b"], env: { A: "b" }',
    'limits: { cpu_time: 1, memory: 1 }, compile_limits: {}, tag: "a", priority: "low"',
    'tests: [{}], checker: { type: "floats", absolute: 0.1 }',
    `tests: [{}], checker: ${judged}`,
  ]
  const wrong = [
    'tests: [{ stdinn: 5 }]',
    'tests: [{ stdin: 5 }]',
    'tests: [5]',
    'files: [{ name: "a" }]',
    'files: [{ name: "a", content: "", encoding: "hex" }]',
    'args: [5]',
    'env: { A: 5 }',
    'env: "A=b"',
    'output_files: [5]',
    'limits: { cpu: 1 }',
    'limits: { memory: "1" }',
    'checker: { type: "magic" }',
    'checker: { type: "program", language: "cpp" }',
    'checker: { type: "lines", absolute: 1 }',
    'priority: "high"',
  ]
  const write = (more: string, index: number): string => {
    const submission = `{ language: "python", code: "", ${more} }`
    return index % 2 === 0
      ? `const a${index}: components["schemas"]["Submission"] = ${submission}`
      : `const a${index}: components["schemas"]["Batch"] = { submissions: [${submission}] }`
  }
  const lines = (list: readonly string[]): string[] => list.flatMap((more) => [write(more, 0), write(more, 1)])
  const head = 'import type { components } from "./api.ts"'
  const folder = t.testdir({
    'api.ts': await openapiTypeScript(structuredClone(document) as OpenAPI3),
    'right.ts': [head, ...lines(right)].map((line, index) => line.replace(/ a\d/, ` a${index}`)).join('\n'),
    'wrong.ts': [head, ...lines(wrong)].map((line, index) => line.replace(/ a\d/, ` a${index}`)).join('\n'),
  })
  const tsc = resolve(import.meta.dirname, '../../node_modules/.bin/tsc')
  const options = '--strict --noEmit --module nodenext --allowImportingTsExtensions --ignoreConfig --types node'.split(' ')
  const { stdout, stderr } = spawnSync(tsc, [...options, 'right.ts', 'wrong.ts'], { cwd: folder, encoding: 'utf8' })
  t.equal(stderr, '')
  const told = stdout.split('\n').filter((line) => line.includes('error TS'))
  t.strictSame(told.filter((line) => !line.startsWith('wrong.ts')), [])
  const refused = new Set(told.map((line) => /^wrong\.ts\((\d+),/.exec(line)?.[1]))
  for (const [index, line] of lines(wrong).entries()) t.ok(refused.has(String(index + 2)), line)
}) // prettier-ignore

t.test('every schema compiles under JSON Schema 2020-12, strictly', async (t) => {
  for (const [name, schema] of Object.entries<object>(document.components.schemas)) {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateFormats: false })
    ajv.addVocabulary(['components'])
    ajv.addSchema({ $id: 'document', components: document.components })
    t.doesNotThrow(
      () => ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('#/', 'document#/'))),
      name,
    )
  }
})

t.test('every route is described, and every description has its route', async (t) => {
  for (const [template, operations] of Object.entries(contract.paths)) {
    const path = template
      .replace('{id}', '018f0000-0000-7000-8000-000000000000')
      .replace('{sha256}', '0'.repeat(64))
    for (const method of ['GET', 'POST', 'PUT']) {
      const described = operations[method.toLowerCase()] !== undefined
      const { status } = await call(method, path, {
        checked: false,
        ...(template.startsWith('/api/operator/') && { key: operator.key }),
        ...(method !== 'GET' && { body: {} }),
      })
      t.equal(status !== 405, described, `${method} ${template} ${status}`)
    }
  }
})

t.test('every example of the document is accepted as it says', async (t) => {
  let examples = 0
  for (const [path, operations] of Object.entries(contract.paths)) {
    const content = operations['post']?.requestBody?.content['application/json']
    for (const [name, { value }] of Object.entries(content?.examples ?? {})) {
      const isOperators = path.startsWith('/api/operator/')
      const { status } = await call('POST', path, {
        body: value,
        ...(isOperators && { key: operator.key }),
      })
      t.equal(status, isOperators ? 200 : 202, name)
      examples += 1
    }
  }
  t.ok(examples >= 4)
})

t.test('the schema of a submission refuses what the server refuses', async (t) => {
  const good = { language: 'py', code: '' }
  const rows = [
    good,
    { ...good, stdin: 'x', expected_stdout: 'x' },
    { ...good, webhook_url: 'https://a.test/', webhook_secret: 's' },
    { code: '' },
    { language: 'py' },
    { ...good, language: 'latin' },
    { ...good, stdin: 1 },
    { ...good, extra: '' },
    { ...good, webhook_url: 'https://a.test/' },
    { ...good, webhook_secret: 's' },
    { ...good, code: 'x'.repeat(65_537) },
    [],
    null,
  ]
  for (const body of rows) {
    const { status } = await call('POST', '/api/submit', { body: JSON.stringify(body) })
    const fits = (() => {
      try {
        checkSchema('Submission', body)
        return true
      } catch {
        return false
      }
    })()
    t.equal(fits, status === 202, JSON.stringify(body).slice(0, 100))
  }
})

t.test('the contract check of these tests does refuse', async (t) => {
  const refuse = (status: number, body: object, path = '/api/submit'): void => {
    t.throws(() => checkAnswer('POST', path, status, JSON.stringify(body)))
  }
  refuse(202, { id: 1 })
  refuse(202, { id: '018f0000-0000-7000-8000-000000000000', extra: true })
  refuse(201, { id: '018f0000-0000-7000-8000-000000000000' })
  refuse(400, { error: 'invalid_request', message: 'x' })
  refuse(401, { error: 'denied', message: 'x' })
  refuse(404, { message: 'x' }, '/nowhere')
})
