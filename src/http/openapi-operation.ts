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

const acceptedAnswer: DescribedAnswer = {
  description:
    'The id of the accepted submission; for a repeated Idempotency-Key, the current record.',
  schema: 'Accepted|Result',
  headers: ['Location', 'Idempotency-Replayed', 'Idempotency-Mismatch'],
}

const hello = { language: 'python', code: 'print("hello")' }

export const operations: Operations = {
  'POST /api/submit': {
    operationId: 'submit',
    summary: 'Submit a program',
    description:
      'Answers 202 as soon as the submission is on disk. With wait=true the answer is the record of the finished run, or 408 with the id when the run is not finished in time; the submission then goes on. Until either answer arrives, the submission may not be stored: if the connection breaks, send the request again with the same Idempotency-Key. A repeated Idempotency-Key creates nothing new and is answered 202 with the existing record.',
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
          'With wait=true: the final record. With Accept: text/event-stream: the stream of the submission, as at /api/result/{id}/stream.',
        schema: 'Result',
        stream: 'text/event-stream',
      },
      202: acceptedAnswer,
    },
    problems: [408],
  },
  'POST /api/submit/batch': {
    operationId: 'submitBatch',
    summary: 'Submit many programs',
    description:
      "A batch holds as many items as the key's tier allows: 20 for beta, 1000 at most. It counts as one request against the rate limit and is stored in one transaction. An invalid item is refused at its position and does not stop the others. When the valid items do not all fit into the queue, the whole batch is answered 503. With Accept: application/x-ndjson each item is answered when it has ended. With webhook_url one webhook, batch.completed, reports the results of all items.",
    parameters: ['Idempotency-Key', 'have'],
    body: {
      schema: 'Batch',
      examples: { two: { summary: 'Two programs', value: { submissions: [hello, hello] } } },
    },
    answers: {
      200: {
        description:
          'With Accept: application/x-ndjson: a line for each item, refused items first, the others in the order in which they end. A client that sends the batch again with its Idempotency-Key gets the lines again; have names the lines that the client already has, which are left out.',
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
      'Answers the record at every stage; fields that are not known yet are null. With wait=true the answer comes as soon as the record is final, or when the time is up.',
    parameters: ['id', 'wait', 'Prefer'],
    answers: { 200: { description: 'The current record.', schema: 'Result' } },
  },
  'GET /api/result/{id}/request': {
    operationId: 'readRequest',
    summary: 'Read what was submitted',
    description:
      'Returns the code, input, files, tests and all other fields of the request, with the names of a submission, so that request can be submitted again unchanged. The webhook and the fields that were not given are left out. Standard input that is not UTF-8 is in base64, and stdin_encoding says so.',
    parameters: ['id'],
    answers: {
      200: { description: 'The request, and the limits in force.', schema: 'ReceivedRequest' },
    },
    problems: [410],
  },
  'GET /api/result/{id}/stream': {
    operationId: 'streamResult',
    summary: 'Follow a submission while it runs',
    description:
      'The answer is a stream of server-sent events with JSON as data. submitted {id}. status {status}: queued or running. compile {output}. stdout and stderr {offset, text}: the output as the program writes it; the offset counts bytes of the output, and a text never cuts a character (with output_encoding base64 there is base64 in place of text). test {index, …}: a test that has ended, as in the record but without its outputs, which no other event has. result: the final record, after which the connection is closed. When an attempt is lost with its worker, the submission starts again: status is queued, then running, and offsets start from 0. Each event has an id. A client that sends it as Last-Event-ID gets the events after it, once each, from any web process; an id that cannot be read means the beginning. The connection may close before the result, after 15 minutes or because the client does not read. A comment is sent every 15 s.',
    parameters: ['id', 'Last-Event-ID'],
    answers: {
      200: { description: 'The events.', stream: 'text/event-stream' },
      204: { description: 'No event follows, because the Last-Event-ID is that of the result.' },
    },
  },
  'GET /api/result/{id}/events': {
    operationId: 'readEvents',
    summary: 'Read what happened to a submission, oldest first',
    parameters: ['id'],
    answers: { 200: { description: 'The events of the submission.', schema: 'Events' } },
  },
  'GET /api/result/{id}/receipt': {
    operationId: 'readReceipt',
    summary: 'Read a signed receipt of a submission that has ended',
    description:
      'The receipt says what was run, under which limits and isolation, and with which result, and has the hashes of the submission’s events. It is signed with Ed25519 in a DSSE envelope. The payload of a submission’s receipt never changes, even after the bodies are removed.',
    parameters: ['id'],
    answers: { 200: { description: 'The envelope.', schema: 'Receipt' } },
    problems: [409],
  },
  'POST /api/result/{id}/cancel': {
    operationId: 'cancel',
    summary: 'Cancel a submission',
    description:
      'A waiting submission ends at once. A submission that compiles or runs is killed moments later, and the output that it has written is kept; until then its status is still running and the record has cancel_requested_at. The final status is cancelled, without a verdict. Cancelling again, or cancelling a submission that has ended, changes nothing. The body is not read.',
    parameters: ['id'],
    answers: { 200: { description: 'The current record.', schema: 'Result' } },
  },
  'POST /api/result/{id}/rerun': {
    operationId: 'rerun',
    summary: 'Run a submission again',
    description:
      'Makes a new submission with the same code, input, tests, other options and tag, which runs on today’s toolchain. The new record’s rerun_of names the first submission, also when a rerun is run again. A webhook is not repeated, because its secret was deleted. Only a submission that has ended can be run again, and only while its code is kept. Its languages must be offered today, and its limits must be allowed today. The body must be empty, or {}.',
    parameters: ['id', 'wait', 'Prefer', 'Idempotency-Key'],
    answers: {
      200: { description: 'With wait=true: the final record.', schema: 'Result' },
      202: acceptedAnswer,
    },
    problems: [408, 409, 410, 415],
  },
  'GET /api/results': {
    operationId: 'readResults',
    summary: 'Read up to 100 results at once',
    description:
      'Counts as one request against the rate limit. An unknown id, or the id of another account’s submission, is not_found at its position. The outputs of one answer are at most 8 MiB in all: a result whose outputs do not fit beside those before it is too_large, and must be read by itself.',
    parameters: ['ids'],
    answers: {
      200: { description: 'One element for each id, in the same order.', schema: 'Results' },
    },
  },
  'GET /api/submissions': {
    operationId: 'listSubmissions',
    summary: "List the account's submissions, newest first",
    parameters: Object.keys(listParameters),
    answers: { 200: { description: 'A page of submissions.', schema: 'ResultPage' } },
  },
  'GET /api/languages': {
    operationId: 'listLanguages',
    summary: 'List the languages with their versions, command lines and limits',
    answers: {
      200: {
        description: 'The languages that a worker offers now; empty when there is no worker.',
        schema: 'Languages',
      },
    },
  },
  'PUT /api/blobs/{sha256}': {
    operationId: 'putBlob',
    summary: 'Upload a long input, or a long expected output',
    description:
      'Submissions name the blob as stdin_sha256 or expected_stdout_sha256. The blob belongs to the account. After its last upload or use it is kept as long as other bodies are. Its size, but at least 4 KiB, counts against the quota of the key’s tier. Uploading an existing blob again creates nothing new. The upload must arrive within a minute.',
    parameters: ['sha256'],
    bytes: 'Any bytes, at most 16 MiB; a blob may be empty.',
    answers: {
      200: { description: 'The blob existed already.', schema: 'Blob' },
      201: { description: 'The blob is new and is on disk.', schema: 'Blob' },
      403: {
        description:
          'The request came over plain HTTP from another machine, its key may not make this request, or the blob does not fit into the quota.',
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
    summary: 'Check whether the account has a blob',
    parameters: ['sha256'],
    answers: {
      200: { description: 'The account has the blob; Content-Length is its size in bytes.' },
      404: { description: 'The account does not have the blob, or the path has no SHA-256.' },
    },
  },
  ...operatorOperations,
  'GET /receipt-key': {
    operationId: 'readReceiptKey',
    summary: 'Read the public key that checks receipts',
    answers: { 200: { description: 'The key in PEM.' } },
    problems: [404],
  },
  'GET /openapi.json': {
    operationId: 'readOpenApi',
    summary: 'Read this document',
    answers: { 200: { description: 'The document, in OpenAPI 3.1.' } },
  },
  'GET /metrics': {
    operationId: 'readMetrics',
    summary: 'Read metrics for Prometheus',
    answers: { 200: { description: 'The metrics in the text exposition format.' } },
  },
  'GET /healthz': {
    operationId: 'checkLife',
    summary: 'Check that the process is alive',
    answers: { 200: { description: 'The process is alive.', schema: 'Health' } },
  },
  'GET /readyz': {
    operationId: 'checkReadiness',
    summary:
      'Check that the process can serve: the database answers and the migrations are in place',
    answers: { 200: { description: 'The process can serve.', schema: 'Health' } },
    problems: [503],
  },
}
