// GET /openapi.json. The document is made from the schemas that validate requests (submission.ts, list.ts), the schemas of
// answers (schema.ts), and the operations in openapi-operation.ts.
import { toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema'
import type { ConversionConfig, JsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import metadata from '#package' with { type: 'json' }
import { attemptLimits } from '#result'
import { uuid } from '#schema'
import { sendBody } from './answer.ts'
import { batchLimit, createBatchSchema } from './batch.ts'
import { listParameters } from './list.ts'
import { operations } from './openapi-operation.ts'
import type { DescribedAnswer, Operations } from './openapi-operation.ts'
import { operatorParameters } from './operator/request-schema.ts'
import type { Handler } from './request.ts'
import { answerSchemas } from './schema.ts'
import { submissionSchema } from './submission.ts'

/** Any JSON value: event data, to which later releases may add fields. */
const anything: JsonSchema = { type: ['array', 'boolean', 'null', 'number', 'object', 'string'] }

// Descriptions say what JSON Schema cannot express: bytes of UTF-8, https only.
const conversion: ConversionConfig = {
  target: 'draft-2020-12',
  // The output of a pipe is described by its last schema, which says most.
  typeMode: 'output',
  errorMode: 'ignore',
  overrideSchema: ({ valibotSchema: { type } }) => (type === 'unknown' ? anything : undefined),
}

/** Converts a schema to JSON Schema 2020-12. */
export function describeSchema(schema: v.GenericSchema): JsonSchema {
  const { $schema: _draft, ...described } = toJsonSchema(schema, conversion)
  return described
}

const uuidSchema = { type: 'string', format: 'uuid' }

export function createOpenApi(): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Runledger',
      version: metadata.version,
      description: metadata.description,
      license: { name: metadata.license, identifier: metadata.license },
    },
    // The server that served this document.
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    paths: createPaths(),
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
      parameters: createParameters(),
      headers: createHeaders(),
      schemas: createSchemas(),
    },
  }
}

// One buffer for all requests, because a client that does not read keeps its answer in memory.
let document: Buffer | undefined

export const serveOpenApi: Handler = (_request, response) => {
  document ??= Buffer.from(JSON.stringify(createOpenApi()))
  sendBody(response, 200, 'application/json; charset=utf-8', document)
}

const withWebhook = { webhook_url: ['webhook_secret'], webhook_secret: ['webhook_url'] }

function createSchemas(): object {
  const submission = v.pipe(
    submissionSchema,
    v.metadata({
      dependentRequired: { ...withWebhook, stop_on_failure: ['tests'] },
    }),
  )
  return toJsonSchemaDefs(
    {
      ...answerSchemas,
      Submission: submission,
      ReceivedRequest: v.object({ id: uuid, request: submission, limits: attemptLimits }),
      Batch: v.pipe(
        createBatchSchema(submission, batchLimit),
        v.metadata({ dependentRequired: withWebhook }),
      ),
    },
    {
      ...conversion,
      overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    },
  )
}

function createParameters(): object {
  const inQuery = Object.entries({ ...listParameters, ...operatorParameters }).map(
    ([name, schema]) => [
      name,
      {
        name,
        in: 'query',
        ...(['campaign', 'q'].includes(name) && { required: true }),
        schema: describeSchema(schema),
      },
    ],
  )
  return {
    id: inPath(
      'id',
      "A submission's id. An unknown id, a malformed id and the id of another account's submission are all answered 404.",
      uuidSchema,
    ),
    worker: inPath('id', "A worker's id.", uuidSchema),
    webhook: inPath('id', 'The id of a webhook or of its submission.', uuidSchema),
    have: parameter(
      'query',
      'have',
      'For a batch that is sent again: the positions of the items whose lines the client already has.',
      { type: 'string', examples: ['0-4,9'] },
    ),
    sha256: inPath('sha256', 'The SHA-256 of the bytes: 64 hexadecimal digits in lower case.', {
      type: 'string',
      pattern: '^[0-9a-f]{64}$',
    }),
    ids: {
      ...parameter('query', 'ids', 'Up to 100 ids of submissions, separated by commas.'),
      required: true,
    },
    wait: parameter(
      'query',
      'wait',
      'true: the answer comes when the submission is final, or after 30 seconds. The default is false.',
      { type: 'boolean' },
    ),
    Prefer: parameter('header', 'Prefer', 'wait=N shortens the wait to N seconds (RFC 7240).', {
      type: 'string',
      example: 'wait=5',
    }),
    'Last-Event-ID': parameter(
      'header',
      'Last-Event-ID',
      'The id of an event. Only the events after it are sent.',
    ),
    'Idempotency-Key': parameter(
      'header',
      'Idempotency-Key',
      'For 24 hours, a repeated request with the same key creates nothing new. Keys are compared without case.',
      uuidSchema,
    ),
    ...Object.fromEntries(inQuery),
  }
}

function parameter(
  place: 'header' | 'path' | 'query',
  name: string,
  description: string,
  schema: object = { type: 'string' },
): object {
  return { name, in: place, description, schema }
}

function inPath(name: string, description: string, schema: object): object {
  return { ...parameter('path', name, description, schema), required: true }
}

const headerDescriptions = {
  Location: "The result's path.",
  'Idempotency-Replayed':
    'true: a request with this key was made before, so nothing new was created.',
  'Batch-Id': 'For a batch with webhook_url: the id that its webhook names.',
  'Idempotency-Mismatch': 'true: the earlier request with this key had a different body.',
  'Retry-After': 'Seconds to wait.',
  Allow: 'The methods of this path.',
  RateLimit:
    'draft-ietf-httpapi-ratelimit-headers-11: the requests left, and the seconds until one more is allowed. Absent for a key without a limit.',
  'RateLimit-Policy':
    'draft-ietf-httpapi-ratelimit-headers-11: the requests allowed in any 60 seconds. Absent for a key without a limit.',
} as const

function createHeaders(): object {
  return Object.fromEntries(
    Object.entries(headerDescriptions).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  )
}

const problemAnswers: Readonly<Record<number, DescribedAnswer>> = {
  400: {
    description: 'The request is not valid; every issue is listed.',
    schema: 'InvalidRequest',
  },
  401: { description: 'The key is missing or not valid.', schema: 'Problem' },
  403: {
    description:
      'The request came over plain HTTP from another machine, or its key may not make this request.',
    schema: 'Problem',
  },
  404: {
    description:
      'The account has no such submission; there is no such worker, webhook or account; or the service has no key that signs receipts.',
    schema: 'Problem',
  },
  408: {
    description:
      'The submission is not finished in time (the answer has its id), or the request did not arrive in time.',
    schema: 'Timeout|Problem',
  },
  409: { description: 'The submission or the webhook has not ended yet.', schema: 'Problem' },
  410: {
    description: 'The code and input were removed, after the retention period or by their account.',
    schema: 'Problem',
  },
  415: { description: 'The body is not plain application/json.', schema: 'Problem' },
  429: {
    description:
      'The key has made as many requests in the last 60 seconds as its tier allows; the message and RateLimit-Policy give the number. Or the key or its account has reached its limit of open streams, or of bytes in request bodies that arrive at this moment.',
    schema: 'Problem',
    headers: ['Retry-After'],
  },
  500: { description: 'Something failed on our side.', schema: 'Internal' },
  503: {
    description:
      'The queue is full and already has several submissions of the account, the database cannot be reached, too many streams are open, or too many bytes of request bodies arrive at this moment.',
    schema: 'Problem',
    headers: ['Retry-After'],
  },
}

function createPaths(): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const [route, operation] of Object.entries(operations)) {
    const [method = '', path = ''] = route.split(' ')
    paths[path] = { ...paths[path], [method.toLowerCase()]: describe(path, operation) }
  }
  return paths
}

function describe(path: string, operation: Operations[string]): object {
  const { operationId, summary, description, parameters, body, bytes } = operation
  const authenticated = path.startsWith('/api/')
  const always = authenticated ? [400, 401, 403, 408, 429, 500, 503] : [408, 500]
  const ofItsKind = [...(path.includes('{id}') ? [404] : []), ...(body === undefined ? [] : [415])]
  const statuses = [...always, ...ofItsKind, ...(operation.problems ?? [])]
  const problems = Object.fromEntries(statuses.map((status) => [status, problemAnswers[status]]))
  // An answer to an unknown key has no rate limit headers.
  const limitsOf = (status: string): readonly string[] =>
    authenticated && status !== '401' && status !== '403' ? ['RateLimit', 'RateLimit-Policy'] : []
  return {
    operationId,
    summary,
    description,
    security: authenticated ? undefined : [],
    parameters: parameters?.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: body === undefined ? describeBytes(bytes) : describeBody(body),
    responses: Object.fromEntries(
      Object.entries<DescribedAnswer>({ ...problems, ...operation.answers }).map(
        ([status, answer]) => [
          status,
          {
            description: answer.description,
            headers: Object.fromEntries(
              [...limitsOf(status), ...(answer.headers ?? [])].map((name) => [
                name,
                { $ref: `#/components/headers/${name}` },
              ]),
            ),
            ...describeContent(answer),
          },
        ],
      ),
    ),
  }
}

function describeBody({ schema, examples }: NonNullable<Operations[string]['body']>): object {
  return {
    required: true,
    content: { 'application/json': { schema: reference(schema), examples } },
  }
}

function describeBytes(description: string | undefined): object | undefined {
  if (description === undefined) return undefined
  const schema = { type: 'string', format: 'binary' }
  return { required: true, description, content: { 'application/octet-stream': { schema } } }
}

function describeContent({ schema, stream }: DescribedAnswer): object {
  if (schema === undefined && stream === undefined) return {}
  const json = schema === undefined ? undefined : { schema: reference(schema) }
  // Each line of NDJSON is a JSON value of the schema.
  if (stream === 'application/x-ndjson') return { content: { [stream]: json } }
  return {
    content: {
      ...(json !== undefined && { 'application/json': json }),
      ...(stream !== undefined && { [stream]: { schema: { type: 'string' } } }),
    },
  }
}

// The most specific name comes first, because a full record is also an object with an id.
function reference(names: string): object {
  const references = names.split('|').map((name) => ({ $ref: `#/components/schemas/${name}` }))
  return references.length === 1 ? { ...references[0] } : { anyOf: references }
}
