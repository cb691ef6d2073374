// Schemas of answers. The OpenAPI document is made from them; tests check every answer against it.
import * as v from 'valibot'
import { faults, problemStatus, retries } from '#error'
import type { ProblemCode } from '#error'
import { exceededLimits, verdicts } from '#event'
import { languages } from '#language'
import { envelopeSchema, receiptSchema } from '#receipt'
import { resultStatuses, webhookStates } from '#result'
import { operatorSchemas } from './operator/schema.ts'

const uuid = v.pipe(v.string(), v.metadata({ format: 'uuid' }))
const time = v.pipe(v.string(), v.metadata({ format: 'date-time', pattern: 'Z$' }))
const seconds = v.pipe(v.number(), v.minValue(0))
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const points = v.pipe(v.number(), v.minValue(0))
const language = v.picklist(languages)

const summaryEntries = {
  id: v.pipe(uuid, v.description('UUID v7, so that ids sort by time.')),
  status: v.pipe(
    v.picklist(resultStatuses),
    v.description(
      'completed: the fate of the program is known, whatever its verdict. failed: the service could not run it (verdict IE). cancelled: its caller took it back.',
    ),
  ),
  verdict: v.pipe(
    v.nullable(v.picklist(verdicts)),
    v.description(
      'AC accepted, WA wrong answer, CE compile error, RE runtime error, TLE time limit, MLE memory limit, OLE output limit, IE internal error; null until the end, and for what was cancelled.',
    ),
  ),
  fault: v.pipe(
    v.nullable(v.picklist(['program', 'checker', 'platform'])),
    v.description(
      'Whose fault the verdict is: the program’s, the caller’s own checker’s, or ours (IE of status failed); null for AC, until the end, and for what was cancelled.',
    ),
  ),
  retry: v.pipe(
    v.nullable(v.picklist(retries)),
    v.description(
      'never: the answer would be the same. new_key: the fault was ours; submit it again with a new Idempotency-Key. null until the end.',
    ),
  ),
  exit_code: v.pipe(
    v.nullable(v.pipe(v.number(), v.integer())),
    v.description('128 + n when signal n ended it; null if it never ran.'),
  ),
  signal: v.pipe(v.nullable(v.string()), v.description('Such as SIGSEGV.')),
  stdout_truncated: v.nullable(v.boolean()),
  stderr_truncated: v.nullable(v.boolean()),
  cpu_time: v.pipe(v.nullable(seconds), v.description('Seconds, user + system.')),
  wall_time: v.pipe(v.nullable(seconds), v.description('Seconds, program start to end.')),
  memory_peak: v.pipe(v.nullable(count), v.description('Bytes.')),
  language,
  runtime: v.pipe(v.nullable(v.string()), v.description('The exact version that ran.')),
  created_at: time,
  started_at: v.nullable(time),
  finished_at: v.nullable(time),
  purged_at: v.pipe(
    v.nullable(time),
    v.description(
      'When stdout, stderr, compile_output, tests and files were removed, after the retention period or by their account; they are null since.',
    ),
  ),
  compile: v.pipe(
    v.nullable(
      v.object({
        exit_code: v.pipe(v.number(), v.integer()),
        cpu_time: seconds,
        wall_time: seconds,
        memory_peak: count,
        cached: v.pipe(
          v.boolean(),
          v.description('An earlier submission’s program was taken, whose figures these are.'),
        ),
      }),
    ),
    v.description('What the compiler used; null for a language without one, or before the end.'),
  ),
  limit: v.pipe(
    v.nullable(v.picklist(exceededLimits)),
    v.description(
      'The limit that ended the run; null when none did. total_time: what the compiler, tests and checkers of one submission may take together in its key’s tier; the tests after that one are not run.',
    ),
  ),
  tag: v.nullable(v.string()),
  rerun_of: v.pipe(
    v.nullable(uuid),
    v.description('The first submission, of which this is a rerun or a rerun’s rerun.'),
  ),
  score: v.optional(
    v.pipe(
      points,
      v.description(
        'What the passed tests are worth; absent, as max_score and groups are, where nothing has points, and before the end.',
      ),
    ),
  ),
  max_score: v.optional(points),
}

const difference = v.pipe(
  v.nullable(
    v.object({
      line: v.pipe(count, v.description('From 1.')),
      expected: v.nullable(v.string()),
      got: v.nullable(v.string()),
    }),
  ),
  v.description(
    'Where the output is not what was expected: at most 200 characters of each line, null where there is none. Null unless the verdict is WA.',
  ),
)

const test = v.object({
  name: v.nullable(v.string()),
  verdict: v.pipe(
    v.nullable(v.picklist(verdicts)),
    v.description('null: it was not run, and so is all else.'),
  ),
  exit_code: v.nullable(v.pipe(v.number(), v.integer())),
  signal: v.nullable(v.string()),
  cpu_time: v.nullable(seconds),
  wall_time: v.nullable(seconds),
  memory_peak: v.nullable(count),
  stdout: v.pipe(
    v.nullable(v.string()),
    v.description('The first 64 KiB; 1 MiB of all tests together.'),
  ),
  stderr: v.nullable(v.string()),
  stdout_truncated: v.pipe(v.nullable(v.boolean()), v.description('It wrote more than this.')),
  stderr_truncated: v.nullable(v.boolean()),
  limit: v.nullable(v.picklist(exceededLimits)),
  difference,
  message: v.pipe(v.nullable(v.string()), v.description('What the checker said.')),
})

const file = v.object({
  name: v.string(),
  size: v.pipe(count, v.description('Bytes.')),
  sha256: v.pipe(v.nullable(v.string()), v.description('Hexadecimal; null without content.')),
  content: v.pipe(
    v.nullable(v.string()),
    v.description('base64; null when it did not fit into 1 MiB beside those before it.'),
  ),
})

const bodyEntries = {
  files: v.pipe(
    v.nullable(v.array(file)),
    v.description(
      'What the run has left of output_files, in their order; null when none were asked for, before the end, and when purged.',
    ),
  ),
  difference,
  tests: v.pipe(
    v.nullable(v.array(test)),
    v.description(
      'In the order of the request; null without tests, before the end, and when purged.',
    ),
  ),
  stdout: v.nullable(v.string()),
  stderr: v.nullable(v.string()),
  compile_output: v.nullable(v.string()),
  groups: v.optional(
    v.pipe(
      v.nullable(
        v.array(
          v.object({ name: v.string(), passed: v.boolean(), score: points, max_score: points }),
        ),
      ),
      v.description('In the order of the request; null without groups, and when purged.'),
    ),
  ),
}

const limits = v.object({
  cpu_time: seconds,
  wall_time: seconds,
  memory: count,
  stdout: count,
  stderr: count,
  disk: count,
  processes: count,
})

const attemptLimits = v.pipe(
  v.nullable(v.object({ compile: v.nullable(limits), run: limits })),
  v.description(
    'The limits in force in the last attempt, in seconds and bytes; null before the first one has begun.',
  ),
)

const webhookProgress = v.object({
  id: v.pipe(uuid, v.description('The webhook-id of its attempts.')),
  state: v.pipe(
    v.picklist(webhookStates),
    v.description(
      'waiting: the submission is not final; pending: an attempt is due; delivered, abandoned: it is over.',
    ),
  ),
  attempts: count,
  next_attempt_at: v.pipe(v.nullable(time), v.description('null unless pending.')),
  last_error: v.pipe(
    v.nullable(v.string()),
    v.description(
      'Why the last attempt failed, in words, such as "the receiver answered 503"; null before a failure and once it was delivered.',
    ),
  ),
})

const accepted = v.object({ id: uuid })
const resultRecord = v.object({
  ...summaryEntries,
  ...bodyEntries,
  limits: attemptLimits,
  message: v.pipe(
    v.nullable(v.string()),
    v.description(
      'Where a limit is below what the language’s runtime needs to come up: which one, in words; else null.',
    ),
  ),
  attempt: v.pipe(
    v.nullable(count),
    v.description(
      'The last attempt’s number, from 1: more than 1 where one was lost, with its worker for example; null before the first one.',
    ),
  ),
  cancel_requested_at: v.pipe(
    v.nullable(time),
    v.description('When its end was asked for while it ran: the end follows.'),
  ),
  webhook: v.pipe(
    v.nullable(webhookProgress),
    v.description(
      'null without webhook_url. What is POSTed to the webhook has no webhook, limits, attempt and cancel_requested_at.',
    ),
  ),
})
/** @param submission the schema of requests. */
export const createReceivedSchema = (submission: v.GenericSchema): v.GenericSchema =>
  v.object({ id: uuid, request: submission, limits: attemptLimits })

const resultSummary = v.object({
  ...summaryEntries,
  preview: v.optional(
    v.pipe(
      v.nullable(v.string()),
      v.description('With ?preview=true: the program’s first line; null when purged.'),
    ),
  ),
  judged: v.optional(
    v.pipe(
      v.nullable(v.boolean()),
      v.description(
        'With ?preview=true. false: nothing was expected, and AC says that it finished. null when purged.',
      ),
    ),
  ),
})

const issue = v.object({
  path: v.pipe(
    v.string(),
    v.description("A field, '?' and a query parameter, or a header; '' is the request itself."),
  ),
  message: v.string(),
})

const blamed = {
  message: v.string(),
  fault: v.pipe(
    v.picklist(faults),
    v.description('caller: the request has to change. platform: ours.'),
  ),
  retry: v.pipe(
    v.picklist(retries),
    v.description(
      'never: the answer would be the same. same_key: at once, with the same Idempotency-Key; nothing runs twice. after: the same, after Retry-After.',
    ),
  ),
}

const invalidRequest = v.object({
  error: v.literal('invalid_request'),
  ...blamed,
  issues: v.pipe(v.array(issue), v.description('Everything that is wrong, at once.')),
})

// Other codes' answers carry more.
const plainCodes = (Object.keys(problemStatus) as ProblemCode[]).filter(
  (code) => code !== 'invalid_request' && code !== 'timeout' && code !== 'internal',
)

const problem = v.object({ error: v.picklist(plainCodes), ...blamed })
const timeout = v.object({ error: v.literal('timeout'), ...blamed, id: uuid })
const internal = v.object({
  error: v.literal('internal'),
  ...blamed,
  request_id: v.pipe(uuid, v.description('Stands in our log with what failed.')),
})

const languageDescription = v.object({
  name: language,
  title: v.pipe(v.string(), v.description('What people call it.')),
  aliases: v.pipe(v.array(v.string()), v.description('What a submission may call it, too.')),
  extensions: v.pipe(v.array(v.string()), v.description('How the names of its source files end.')),
  runtime: v.pipe(v.string(), v.description('The exact version.')),
  compile: v.pipe(v.nullable(v.array(v.string())), v.description("The compiler's command line.")),
  run: v.pipe(v.array(v.string()), v.description("The program's command line.")),
  limits: v.nullable(v.object({ compile: v.nullable(limits), run: limits })),
  example: v.pipe(
    v.nullable(v.string()),
    v.description(
      'A program that prints `Hello, world!`; null for a language that the web process does not know.',
    ),
  ),
  workers: v.pipe(count, v.description('How many workers offer it now.')),
})

const event = v.object({
  position: count,
  version: v.pipe(
    count,
    v.description('1, 2, 3 … within its stream: the submission, or its webhook.'),
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
      'SHA-256 over the whole event, what is not told here too, and the hash before it in its stream.',
    ),
  ),
  data: v.record(v.string(), v.unknown()),
})

const place = v.pipe(count, v.description('Of the item in the batch, from 0.'))

/** By name in the document. */
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
    next_cursor: v.pipe(
      v.nullable(v.string()),
      v.description(
        'null on the last page. A page looks at no more than 20,000 submissions: with a filter it may have fewer than asked for, or none, and a next one.',
      ),
    ),
  }),
  BatchAnswer: v.object({
    id: v.optional(
      v.pipe(
        v.nullable(uuid),
        v.description(
          'With webhook_url: the id that the webhook names; null when no item was accepted.',
        ),
      ),
    ),
    submissions: v.pipe(
      v.array(v.union([accepted, invalidRequest])),
      v.description('One element an item, in the same order.'),
    ),
  }),
  BatchLine: v.union([
    v.object({ index: place, ...resultRecord.entries }),
    v.object({ index: place, ...invalidRequest.entries }),
  ]),
  Blob: v.object({ sha256: v.string(), size: v.pipe(count, v.description('Bytes.')) }),
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
