// /openapi.json: it is what is served, complete, well formed, and its examples work.
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { checkAnswer, checkSchema, contract } from '../helper/contract.ts'
import { createTestDatabase } from '../helper/database.ts'
import { issueOperatorKey } from '../helper/operator.ts'
import { startServer } from '../helper/server.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
const { call } = await startServer(t, sql, { url })
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
  // Generators make a field with a default one that a caller must give.
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
