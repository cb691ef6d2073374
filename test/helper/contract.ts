// Checks answers against the OpenAPI document: each answer's status must be described for its path and method, and its
// body must fit the schema, with no other field than the described ones.
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { createOpenApi } from '../../src/http/openapi.ts'

type Json = Readonly<Record<string, unknown>>

/** The OpenAPI document as a client reads it. */
export const contract = JSON.parse(JSON.stringify(createOpenApi())) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Json>> }
}

interface OpenApiOperation {
  readonly operationId: string
  readonly parameters?: readonly { readonly $ref: string }[]
  readonly requestBody?: {
    readonly content: {
      readonly 'application/json': { readonly examples: Readonly<Record<string, { value: Json }>> }
    }
  }
  readonly responses: Readonly<
    Record<
      string,
      { readonly content?: { readonly 'application/json': { readonly schema: Json } } }
    >
  >
}

const ajv = new Ajv2020({
  allErrors: true,
  strict: true,
  allowUnionTypes: true,
  validateFormats: false,
})
// The document uses these keywords around its schemas.
ajv.addVocabulary(['components', 'example'])
ajv.addSchema({ $id: 'contract', components: { schemas: close(contract.components.schemas) } })

const compiled = new Map<string, ValidateFunction>()

/** Checks an answer. @throws when the document does not describe it. */
export function checkAnswer(method: string, path: string, status: number, body: string): void {
  const operation = findOperation(method, path)
  const schema = operation === null ? null : describedSchema(operation, status)
  if (operation !== null && schema === undefined) {
    throw new Error(`${method} ${path} answered ${status}, which is not described: ${body}`)
  }
  // A request that is no operation (an unknown path or method, a refused connection) must be answered with a problem.
  if (operation === null || schema !== null) {
    check(
      schema ?? { anyOf: ['Problem', 'InvalidRequest', 'Internal'].map(toReference) },
      body === '' ? undefined : (JSON.parse(body) as unknown),
      `${method} ${path} ${status}`,
    )
  }
}

/** Checks a value. @throws when it does not fit the named schema of the document. */
export function checkSchema(name: string, value: unknown): void {
  check(toReference(name), value, name)
}

function check(schema: Json, value: unknown, what: string): void {
  const text = JSON.stringify(schema).replaceAll('#/', 'contract#/')
  let validate = compiled.get(text)
  if (validate === undefined) {
    validate = ajv.compile(JSON.parse(text) as Json)
    compiled.set(text, validate)
  }
  if (!validate(value)) {
    throw new Error(
      `${what} does not fit the contract: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)?.slice(0, 2000)}`,
    )
  }
}

function toReference(name: string): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` }
}

/** Finds the operation of a request; null when there is none. */
function findOperation(method: string, path: string): OpenApiOperation | null {
  const [plain = ''] = path.split('?')
  for (const [template, operations] of Object.entries(contract.paths)) {
    const pattern = new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`, 'i')
    if (pattern.test(plain)) return operations[method.toLowerCase()] ?? null
  }
  return null
}

function describedSchema(operation: OpenApiOperation, status: number): Json | null | undefined {
  const response = operation.responses[status]
  return response === undefined
    ? undefined
    : (response.content?.['application/json'].schema ?? null)
}

// Forbids undescribed fields. The document allows them in answers, because later releases may add fields, but these tests
// must notice every one.
function close(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(close)
  if (typeof schema !== 'object' || schema === null) return schema
  const closed = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === '$ref' ? `contract${String(value)}` : close(value),
    ]),
  )
  return 'properties' in closed && closed['type'] === 'object'
    ? { additionalProperties: false, ...closed }
    : closed
}
