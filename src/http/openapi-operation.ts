// The operations of the OpenAPI document, with descriptions and examples. A test compares them with the routes of http.ts.
import { listParameters } from './list.ts'
import { operatorOperations } from './operator/openapi.ts'

export interface DescribedAnswer {
  readonly description: string
  /** A name in answerSchemas; absent for an answer without JSON. */
  readonly schema?: string
  /** The media type, when the answer is a stream or can be requested as one. */
  readonly stream?: 'text/event-stream' | 'application/x-ndjson'
  readonly headers?: readonly string[]
}

/** The operations by method and path, such as `GET /api/result/{id}`. */
export type Operations = Readonly<Record<string, Operation>>

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly string[]
  /** The name of the body's schema, and examples. */
  readonly body?: { readonly schema: string; readonly examples: Readonly<Record<string, object>> }
  /** The description of a body that is not JSON but bytes. */
  readonly bytes?: string
  /** These answers take precedence over those that all operations share. */
  readonly answers: Readonly<Record<number, DescribedAnswer>>
  /** Further statuses, beside those of every operation under /api, 404 for a path with an id, and 415 for a JSON body. */
  readonly problems?: readonly (404 | 408 | 409 | 410 | 415 | 503)[]
}

const hello = { language: 'python', code: 'print("hello")' }

export const operations: Operations = {
  'POST /api/submit': {
    operationId: 'submit',
    summary: 'Submit a program',
    description:
      'Answers 202 as soon as the submission is on disk. With wait=true the answer is the record of the finished run, or 408 with the id when it is not finished in time; the submission goes on. Before either answer nothing is promised: send again what broke off, under the same Idempotency-Key. A repeated Idempotency-Key makes nothing new and answers 202 with the record that exists.',
    parameters: ['wait', 'Prefer', 'Idempotency-Key'],
    body: {
      schema: 'Submission',
      examples: {
        hello: { summary: 'Hello', value: hello },
        judged: {
          summary: 'With input and the expected output',
          value: {
            language: 'c++',
            code: '#include <iostream>\nint main() { int a, b; std::cin >> a >> b; std::cout << a + b << "\\n"; }',
            stdin: '1 2\n',
            expected_stdout: '3\n',
          },
        },
        webhook: {
          summary: 'With a webhook',
          value: {
            language: 'java',
            code: 'class Main { public static void main(String[] a) { System.out.println(1); } }',
            webhook_url: 'https://example.com/finished',
            webhook_secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
          },
        },
      },
    },
    answers: {
      200: {
        description:
          'wait=true: the final record. With Accept: text/event-stream: the stream of the submission, as at /api/result/{id}/stream.',
        schema: 'Result',
        stream: 'text/event-stream',
      },
      202: {
        description: 'Accepted; or, for a repeated Idempotency-Key, the record as it stands.',
        schema: 'Accepted|Result',
        headers: ['Location', 'Idempotency-Replayed', 'Idempotency-Mismatch'],
      },
    },
    problems: [408],
  },
  'POST /api/submit/batch': {
    operationId: 'submitBatch',
    summary: 'Submit many programs',
    description:
      "As many as the key's tier allows: 20 for beta, 1000 at the most. One request against the rate limit and one transaction. A bad item is answered in its place and does not stop the others; 503 for all when the good ones do not all fit into the queue. With Accept: application/x-ndjson each item is answered as it ends. With webhook_url one webhook, batch.completed, says how all of them have ended.",
    parameters: ['Idempotency-Key', 'have'],
    body: {
      schema: 'Batch',
      examples: { two: { summary: 'Two programs', value: { submissions: [hello, hello] } } },
    },
    answers: {
      200: {
        description:
          'Accept: application/x-ndjson: a line for each item, in the order in which they end, refused ones first. Sent again under its Idempotency-Key, a batch goes on; have names the lines that the client has.',
        schema: 'BatchLine',
        stream: 'application/x-ndjson',
        headers: ['Batch-Id', 'Idempotency-Replayed', 'Idempotency-Mismatch'],
      },
      202: {
        description: 'An id or a refusal for each item.',
        schema: 'BatchAnswer',
        headers: ['Idempotency-Replayed', 'Idempotency-Mismatch'],
      },
    },
  },
  'GET /api/result/{id}': {
    operationId: 'readResult',
    summary: 'Read a result',
    description:
      'At every stage; what is not known yet is null. With wait=true the answer comes as soon as the record is final, or when the time is up.',
    parameters: ['id', 'wait', 'Prefer'],
    answers: { 200: { description: 'The record as it stands.', schema: 'Result' } },
  },
  'GET /api/result/{id}/request': {
    operationId: 'readRequest',
    summary: 'Read what was submitted',
    description:
      'Code, input, files, tests and all else that was asked, by the names of a submission: request can be submitted again as it is. Left out are the webhook, and what was not given. Standard input that is no UTF-8 is base64, by its stdin_encoding.',
    parameters: ['id'],
    answers: {
      200: { description: 'The request, and the limits in force.', schema: 'ReceivedRequest' },
    },
    problems: [410],
  },
  'GET /api/result/{id}/stream': {
    operationId: 'streamResult',
    summary: 'Follow a submission while it goes on',
    description:
      'Server-sent events, their data JSON: submitted {id}; status {status}, queued or running; compile {output}; stdout and stderr {offset, text}, as the program writes, where the offset counts bytes of the output and no text cuts a character (with output_encoding base64 it is base64 in place of text); test {index, …}, a test that has ended, as in the record without its outputs, of which no other event tells; and last result, the final record, after which the connection is closed. An attempt that was lost with its worker begins again: status queued, running, and offsets from 0. Each event has an id: who comes back with it as Last-Event-ID gets what follows, once, from whichever process. A connection may end before the result, after 15 minutes or because the client does not read; an id that cannot be read is the beginning. A comment comes every 15 s.',
    parameters: ['id', 'Last-Event-ID'],
    answers: {
      200: { description: 'The events.', stream: 'text/event-stream' },
      204: { description: 'Nothing follows: the Last-Event-ID is that of the result.' },
    },
  },
  'GET /api/result/{id}/events': {
    operationId: 'readEvents',
    summary: 'Read what happened to a submission, oldest first',
    parameters: ['id'],
    answers: { 200: { description: 'Its events.', schema: 'Events' } },
  },
  'GET /api/result/{id}/receipt': {
    operationId: 'readReceipt',
    summary: 'Read a signed receipt of a submission that has ended',
    description:
      'What was run, under which limits and isolation, how it ended, and the hashes of its events, signed by Ed25519 in a DSSE envelope. Of the same submission the payload is the same for ever, after its bodies are gone too.',
    parameters: ['id'],
    answers: { 200: { description: 'The envelope.', schema: 'Receipt' } },
    problems: [409],
  },
  'POST /api/result/{id}/cancel': {
    operationId: 'cancel',
    summary: 'Cancel a submission',
    description:
      'What waits ends at once. What compiles or runs is killed moments later, and what it had written is kept: until then the record is still running and has cancel_requested_at. Its status is then cancelled, for good, without a verdict. To cancel again, or what has ended, changes nothing. The body is not read.',
    parameters: ['id'],
    answers: { 200: { description: 'The record as it stands.', schema: 'Result' } },
  },
  'POST /api/result/{id}/rerun': {
    operationId: 'rerun',
    summary: 'Run a submission again',
    description:
      'The same code, input, tests and all else that it asked, on the toolchain of today, as a new submission with the same tag. Its record’s rerun_of names the first submission, also when a rerun is run again. A webhook is not repeated, as its secret was deleted. Only what has ended can be run again, and only while its code is kept. Languages and limits are held against what holds today. The body is empty, or {}.',
    parameters: ['id', 'wait', 'Prefer', 'Idempotency-Key'],
    answers: {
      200: { description: 'wait=true: the final record.', schema: 'Result' },
      202: {
        description: 'Accepted; or, for a repeated Idempotency-Key, the record as it stands.',
        schema: 'Accepted|Result',
        headers: ['Location', 'Idempotency-Replayed', 'Idempotency-Mismatch'],
      },
    },
    problems: [408, 409, 410, 415],
  },
  'GET /api/results': {
    operationId: 'readResults',
    summary: 'Read up to 100 results at once',
    description:
      'One request against the rate limit. What is not there, or another account’s, is not_found in its place. Outputs are 8 MiB in all: those that do not fit beside the ones before them are too_large, and are read one by one.',
    parameters: ['ids'],
    answers: { 200: { description: 'One element an id, in the same order.', schema: 'Results' } },
  },
  'GET /api/submissions': {
    operationId: 'listSubmissions',
    summary: "List the account's submissions, newest first",
    parameters: Object.keys(listParameters),
    answers: { 200: { description: 'A page.', schema: 'ResultPage' } },
  },
  'GET /api/languages': {
    operationId: 'listLanguages',
    summary: 'List the languages with their versions, command lines and limits',
    answers: {
      200: { description: 'Those that a worker runs now; empty without one.', schema: 'Languages' },
    },
  },
  'PUT /api/blobs/{sha256}': {
    operationId: 'putBlob',
    summary: 'Upload a long input, or a long expected output',
    description:
      'Submissions name it as stdin_sha256 or expected_stdout_sha256. It belongs to the account, is kept after it was last uploaded or named as long as other bodies are, and counts its size, at least 4 KiB, against what the key’s tier allows. To upload again what is there changes nothing. It has to arrive within a minute.',
    parameters: ['sha256'],
    bytes: 'Any bytes, at most 16 MiB; none is a blob, too.',
    answers: {
      200: { description: 'It was there.', schema: 'Blob' },
      201: { description: 'It is on disk.', schema: 'Blob' },
      403: {
        description: 'Plain HTTP from beyond the machine; or the quota is used up.',
        schema: 'Problem',
      },
      415: { description: 'The body is not plain application/octet-stream.', schema: 'Problem' },
      503: {
        description: 'Too many uploads are in progress, or the database cannot be reached.',
        schema: 'Problem',
        headers: ['Retry-After'],
      },
    },
  },
  'HEAD /api/blobs/{sha256}': {
    operationId: 'findBlob',
    summary: 'Whether the account has a blob',
    parameters: ['sha256'],
    answers: {
      200: { description: 'It has; Content-Length is its size.' },
      404: { description: 'It has not, or that is no SHA-256.' },
    },
  },
  ...operatorOperations,
  'GET /receipt-key': {
    operationId: 'readReceiptKey',
    summary: 'Read the public key that checks receipts',
    answers: { 200: { description: 'PEM.' } },
    problems: [404],
  },
  'GET /openapi.json': {
    operationId: 'readOpenApi',
    summary: 'This document',
    answers: { 200: { description: 'OpenAPI 3.1.' } },
  },
  'GET /metrics': {
    operationId: 'readMetrics',
    summary: 'Metrics for Prometheus',
    answers: { 200: { description: 'The text exposition format.' } },
  },
  'GET /healthz': {
    operationId: 'checkLife',
    summary: 'Whether the process lives',
    answers: { 200: { description: 'It does.', schema: 'Health' } },
  },
  'GET /readyz': {
    operationId: 'checkReadiness',
    summary: 'Whether it can serve: the database answers, migrations are in place',
    answers: { 200: { description: 'It can.', schema: 'Health' } },
    problems: [503],
  },
}
