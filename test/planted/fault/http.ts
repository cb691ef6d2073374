// Faults in what a caller may ask and what he is answered.
import type { Fault } from '../fault.ts'

export const httpFaults: readonly Fault[] = [
  {
    name: 'http: a text may be a byte longer than the limit',
    text: '(text) => byteLength(text) <= textLimitBytes,',
    instead: '(text) => byteLength(text) <= textLimitBytes + 1,',
    tests: ['http/submit'],
  },
  {
    name: 'http: a lone surrogate is accepted, and stored as another character',
    text: 'v.check((text) => text.isWellFormed(), ',
    instead: 'v.check(() => true, ',
    tests: ['http/submit'],
  },
  {
    name: 'http: a field with a name of every object is not unknown',
    text: 'Object.keys(input).filter((key) => !Object.hasOwn(schema.entries, key))',
    instead: 'Object.keys(input).filter((key) => !(key in schema.entries))',
    tests: ['http/submit'],
  },
  {
    name: 'http: a webhook may be sent in plain text',
    text: "[url.protocol !== 'https:', 'must be an https: URL'],",
    instead: '',
    tests: ['http/submit'],
  },
  {
    name: 'http: a webhook without a secret is accepted',
    text: "if (has('webhook_url') && !has('webhook_secret')) {",
    instead: 'if (false) {',
    tests: ['http/submit'],
  },
  {
    name: 'http: an unknown parameter of the query is overlooked',
    text: 'if (!known.includes(name))',
    instead: "if (name === '' && !known.includes(name))",
    tests: ['http/contract'],
  },
  {
    name: 'http: Prefer lengthens the wait beyond what the service holds',
    text: 'return preference === null ? most : Math.min(most, Number(preference[1]))',
    instead: 'return preference === null ? most : Number(preference[1])',
    tests: ['http/wait'],
  },
  {
    name: "http: the result of another account's submission is shown",
    text: 'where r.id = read_result.submission_id and r.account_id = read_result.account_id;',
    instead: 'where r.id = read_result.submission_id;',
    tests: ['http/contract'],
  },
  {
    name: "http: the events of another account's submission are shown",
    text: 'select from runledger.result r where r.id = ${id} and r.account_id = ${accountId}`',
    instead: 'select from runledger.result r where r.id = ${id}`',
    tests: ['http/contract'],
  },
  {
    name: "http: the list shows every account's submissions",
    text: 'where r.account_id = ${accountId}\n      ${status',
    instead: 'where true\n      ${status',
    tests: ['http/read'],
  },
  {
    name: 'http: the list has no second page',
    text: 'listResults(database, accountId, { ...filter, before: cursor, limit: limit + 1 }),',
    instead: 'listResults(database, accountId, { ...filter, before: cursor, limit }),',
    tests: ['http/read'],
  },
  {
    name: 'http: a rerun is not held against what holds today',
    text: 'if (obstacles.length > 0) throw invalidRequest(obstacles)',
    instead: '',
    tests: ['http/rerun'],
  },
  {
    name: 'http: a replay does not say that the request differs',
    text: "...(!matches && { 'Idempotency-Mismatch': 'true' }),\n    },\n  }\n}\n\nexport function locate",
    instead: '},\n  }\n}\n\nexport function locate',
    tests: ['http/idempotency'],
  },
  {
    name: 'http: an idempotency key need not be a UUID',
    text: "if (typeof text === 'string' && isUuid(text)) {",
    instead: "if (typeof text === 'string') {",
    tests: ['http/idempotency'],
  },
  {
    name: 'http: a wait that takes too long is answered 504',
    text: '  timeout: 408,\n  request_timeout',
    instead: '  timeout: 504,\n  request_timeout',
    tests: ['http/wait'],
  },
  {
    name: 'http: an error of ours tells the caller its text',
    text: "'Something failed on our side. The request_id identifies it in our log.',",
    instead: 'String(error),',
    tests: ['http/problem'],
  },
  {
    name: 'http: who has no key learns what is wrong with his request',
    text: 'if (error instanceof Problem && error.status < 500) await request.confirm?.()',
    instead: '',
    tests: ['http/known-key'],
  },
  {
    name: 'http: the rate headers tell the quota for what remains',
    text: '`"requests";r=${rate.remaining};t=${rate.resetSeconds}`',
    instead: '`"requests";r=${rate.quota};t=${rate.resetSeconds}`',
    tests: ['http/rate-window'],
  },
  {
    name: 'http: a wait that ends early tells of a submission that a crash may forget',
    text: 'await withDeadline(() => flushLog(database))',
    instead: '',
    tests: ['http/durable'],
  },
  {
    name: 'http: a request without a host is taken',
    text: "if (request.headers.host !== undefined || request.httpVersion === '1.0') return next()",
    instead: 'return next()',
    tests: ['http/transport'],
  },
  {
    name: 'http: a process that ends does not say farewell',
    text: 'if (isEnding) response.shouldKeepAlive = false',
    instead: '',
    tests: ['./stop'],
  },
  {
    name: "http: a file is taken under the main file's name",
    text: '    ? ownFiles\n',
    instead: '    ? []\n',
    tests: ['http/detail'],
  },
  {
    name: "http: limits go beyond what the key's tier says",
    text: 'if (value !== undefined && value > most)',
    instead: 'if (value === null)',
    tests: ['http/detail'],
  },
]
