// The schemas of answers. The OpenAPI document is made from them, and tests check every answer against it.
import * as v from 'valibot'
import { faults, problemStatus, retries } from '#error'
import type { ProblemCode } from '#error'
import { languages } from '#language'
import { envelopeSchema, receiptSchema } from '#receipt'
import { recordedLimits, resultRecord, summaryEntries } from '#result'
import { count, described, utcTime as time, uuid } from '#schema'
import { operatorSchemas } from './operator/schema.ts'

const language = v.picklist(languages)

const accepted = v.object({ id: uuid })

const resultSummary = v.object({
  ...summaryEntries,
  preview: v.optional(
    described(
      v.nullable(v.string()),
      'Present with ?preview=true: the program’s first line; null when purged.',
    ),
  ),
  judged: v.optional(
    described(
      v.nullable(v.boolean()),
      'Present with ?preview=true. false: no output was expected, so AC only means that the program finished. null when purged.',
    ),
  ),
})

const issue = v.object({
  path: described(
    v.string(),
    "The name of a field, '?' and the name of a query parameter, or the name of a header; '' means the request itself.",
  ),
  message: v.string(),
})

const blamed = {
  message: v.string(),
  fault: described(
    v.picklist(faults),
    'caller: the request must be changed. platform: the service failed.',
  ),
  retry: described(
    v.picklist(retries),
    'never: the answer would be the same. same_key: send the request again at once with the same Idempotency-Key; nothing runs twice. after: wait for Retry-After, then do as for same_key.',
  ),
}

const invalidRequest = v.object({
  error: v.literal('invalid_request'),
  ...blamed,
  issues: described(v.array(issue), 'All mistakes in the request.'),
})

// The answers of the three other codes have more fields.
const plainCodes = (Object.keys(problemStatus) as ProblemCode[]).filter(
  (code) => code !== 'invalid_request' && code !== 'timeout' && code !== 'internal',
)

const problem = v.object({ error: v.picklist(plainCodes), ...blamed })
const timeout = v.object({ error: v.literal('timeout'), ...blamed, id: uuid })
const internal = v.object({
  error: v.literal('internal'),
  ...blamed,
  request_id: described(uuid, 'Identifies the failure in the service’s log.'),
})

const languageDescription = v.object({
  name: language,
  title: described(v.string(), 'The language’s usual name.'),
  aliases: described(
    v.array(v.string()),
    'Other names that a submission may use for the language.',
  ),
  extensions: described(v.array(v.string()), 'The endings of the language’s file names.'),
  runtime: described(v.string(), 'The exact version.'),
  compile: described(
    v.nullable(v.array(v.string())),
    "The compiler's command line; null for a language without a compiler.",
  ),
  run: described(v.array(v.string()), "The program's command line."),
  limits: v.nullable(recordedLimits),
  example: described(
    v.nullable(v.string()),
    'A program that prints `Hello, world!`; null for a language that the web process does not know.',
  ),
  workers: described(count, 'The number of workers that offer the language now.'),
})

const event = v.object({
  position: count,
  version: described(
    count,
    'The event’s number, from 1, in its stream: the submission’s or its webhook’s.',
  ),
  type: v.pipe(
    v.string(),
    v.regex(/^[a-z_]+\.[a-z_]+$/),
    v.description(
      'submission.received, .cancel_requested, .cancelled, .purged; execution.started, .completed, .interrupted, .abandoned; webhook.attempt_failed, .delivered, .abandoned, .replayed. Later releases may add some.',
    ),
  ),
  at: time,
  hash: v.pipe(
    v.string(),
    v.regex(/^[0-9a-f]{64}$/),
    v.description(
      'SHA-256 over the whole event, including fields that this answer leaves out, and over the previous hash in its stream.',
    ),
  ),
  data: v.record(v.string(), v.unknown()),
})

const index = described(count, 'The item’s position in the batch, from 0.')

/** The schemas by their name in the OpenAPI document. */
export const answerSchemas = {
  Accepted: accepted,
  Result: resultRecord,
  ResultSummary: resultSummary,
  Results: v.object({
    results: v.array(
      v.union([
        resultRecord,
        v.object({
          id: v.string(),
          error: v.picklist(['not_found', 'too_large']),
          message: v.string(),
        }),
      ]),
    ),
  }),
  ResultPage: v.object({
    submissions: v.array(resultSummary),
    next_cursor: described(
      v.nullable(v.string()),
      'null on the last page. One page examines at most 20,000 submissions. With a filter, a page may therefore hold fewer submissions than limit, or none, although there is a next page.',
    ),
  }),
  BatchAnswer: v.object({
    id: v.optional(
      described(
        v.nullable(uuid),
        'Present with webhook_url: the id that the webhook names; null when no item was accepted.',
      ),
    ),
    submissions: described(
      v.array(v.union([accepted, invalidRequest])),
      'One element for each item, in the same order.',
    ),
  }),
  BatchLine: v.union([
    v.object({ index, ...resultRecord.entries }),
    v.object({ index, ...invalidRequest.entries }),
  ]),
  Blob: v.object({ sha256: v.string(), size: described(count, 'Bytes.') }),
  Events: v.object({ events: v.array(event) }),
  Receipt: envelopeSchema,
  ReceiptPayload: receiptSchema,
  Languages: v.object({ languages: v.array(languageDescription) }),
  Health: v.object({ status: v.literal('ok') }),
  InvalidRequest: invalidRequest,
  Timeout: timeout,
  Internal: internal,
  Problem: problem,
  ...operatorSchemas,
} as const
