// The schema of the HTTP API's result record, in seconds, bytes, and RFC 3339 in UTC. Types and the OpenAPI document are
// derived from it.
import * as v from 'valibot'
import { retries } from '#error'
import { exceededLimits, verdicts } from '#event'
import { languages } from '#language'
import { count, described, seconds, utcTime as time, uuid } from '#schema'
import { recordedLimits } from './limits.ts'

export const resultStatuses = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const
export type ResultStatus = (typeof resultStatuses)[number]

/** waiting: the submission is not final; pending: an attempt is due; delivered, abandoned: no attempt follows. */
export const webhookStates = ['waiting', 'pending', 'delivered', 'abandoned'] as const
export type WebhookState = (typeof webhookStates)[number]

const points = v.pipe(v.number(), v.minValue(0))
// The type is `string`, because a later release may have run a language that this one does not know.
const language: v.GenericSchema<string> = v.picklist(languages)

/** The entries of a record without what the program wrote. */
export const summaryEntries = {
  id: described(uuid, 'UUID v7, so that ids sort by time.'),
  status: described(
    v.picklist(resultStatuses),
    'completed: the fate of the program is known, whatever its verdict. failed: the service could not run it (verdict IE). cancelled: its caller took it back.',
  ),
  verdict: described(
    v.nullable(v.picklist(verdicts)),
    'AC accepted, WA wrong answer, CE compile error, RE runtime error, TLE time limit, MLE memory limit, OLE output limit, IE internal error; null until the end, and for what was cancelled.',
  ),
  fault: described(
    v.nullable(v.picklist(['program', 'checker', 'platform'])),
    'Whose fault the verdict is: the program’s, the caller’s own checker’s, or ours (IE of status failed); null for AC, until the end, and for what was cancelled.',
  ),
  retry: described(
    v.nullable(v.picklist(retries)),
    'never: the answer would be the same. new_key: the fault was ours; submit it again with a new Idempotency-Key. null until the end.',
  ),
  exit_code: described(
    v.nullable(v.pipe(v.number(), v.integer())),
    '128 + n when signal n ended it; null if it never ran.',
  ),
  signal: described(v.nullable(v.string()), 'Such as SIGSEGV.'),
  stdout_truncated: v.nullable(v.boolean()),
  stderr_truncated: v.nullable(v.boolean()),
  cpu_time: described(v.nullable(seconds), 'Seconds, user + system.'),
  wall_time: described(v.nullable(seconds), 'Seconds, program start to end.'),
  memory_peak: described(v.nullable(count), 'Bytes.'),
  language,
  runtime: described(v.nullable(v.string()), 'The exact version that ran.'),
  created_at: time,
  started_at: v.nullable(time),
  finished_at: v.nullable(time),
  purged_at: described(
    v.nullable(time),
    'When stdout, stderr, compile_output, tests and files were removed, after the retention period or by their account; they are null since.',
  ),
  compile: described(
    v.nullable(
      v.object({
        exit_code: v.pipe(v.number(), v.integer()),
        cpu_time: seconds,
        wall_time: seconds,
        memory_peak: count,
        cached: described(
          v.boolean(),
          'An earlier submission’s program was taken, whose figures these are.',
        ),
      }),
    ),
    'What the compiler used; null for a language without one, or before the end.',
  ),
  limit: described(
    v.nullable(v.picklist(exceededLimits)),
    'The limit that ended the run; null when none did. total_time: what the compiler, tests and checkers of one submission may take together in its key’s tier; the tests after that one are not run.',
  ),
  tag: v.nullable(v.string()),
  rerun_of: described(
    v.nullable(uuid),
    'The first submission, of which this is a rerun or a rerun’s rerun.',
  ),
  score: v.optional(
    described(
      points,
      'What the passed tests are worth; absent, as max_score and groups are, where nothing has points, and before the end.',
    ),
  ),
  max_score: v.optional(points),
}

const difference = described(
  v.nullable(
    v.object({
      line: described(count, 'From 1.'),
      expected: v.nullable(v.string()),
      got: v.nullable(v.string()),
    }),
  ),
  'Where the output is not what was expected: at most 200 characters of each line, null where there is none. Null unless the verdict is WA.',
)

const test = v.object({
  name: v.nullable(v.string()),
  verdict: described(v.nullable(v.picklist(verdicts)), 'null: it was not run, and so is all else.'),
  exit_code: v.nullable(v.pipe(v.number(), v.integer())),
  signal: v.nullable(v.string()),
  cpu_time: v.nullable(seconds),
  wall_time: v.nullable(seconds),
  memory_peak: v.nullable(count),
  stdout: described(v.nullable(v.string()), 'The first 64 KiB; 1 MiB of all tests together.'),
  stderr: v.nullable(v.string()),
  stdout_truncated: described(v.nullable(v.boolean()), 'It wrote more than this.'),
  stderr_truncated: v.nullable(v.boolean()),
  limit: v.nullable(v.picklist(exceededLimits)),
  difference,
  message: described(v.nullable(v.string()), 'What the checker said.'),
})

const file = v.object({
  name: v.string(),
  size: described(count, 'Bytes.'),
  sha256: described(v.nullable(v.string()), 'Hexadecimal; null without content.'),
  content: described(
    v.nullable(v.string()),
    'base64; null when it did not fit into 1 MiB beside those before it.',
  ),
})

const bodyEntries = {
  files: described(
    v.nullable(v.array(file)),
    'What the run has left of output_files, in their order; null when none were asked for, before the end, and when purged.',
  ),
  difference,
  tests: described(
    v.nullable(v.array(test)),
    'In the order of the request; null without tests, before the end, and when purged.',
  ),
  stdout: v.nullable(v.string()),
  stderr: v.nullable(v.string()),
  compile_output: v.nullable(v.string()),
  groups: v.optional(
    described(
      v.nullable(
        v.array(
          v.object({ name: v.string(), passed: v.boolean(), score: points, max_score: points }),
        ),
      ),
      'In the order of the request; null without groups, and when purged.',
    ),
  ),
}

export const attemptLimits = described(
  v.nullable(recordedLimits),
  'The limits in force in the last attempt, in seconds and bytes; null before the first one has begun.',
)

const webhookProgress = v.object({
  id: described(uuid, 'The webhook-id of its attempts.'),
  state: described(
    v.picklist(webhookStates),
    'waiting: the submission is not final; pending: an attempt is due; delivered, abandoned: it is over.',
  ),
  attempts: count,
  next_attempt_at: described(v.nullable(time), 'null unless pending.'),
  last_error: described(
    v.nullable(v.string()),
    'Why the last attempt failed, in words, such as "the receiver answered 503"; null before a failure and once it was delivered.',
  ),
})

/** The record that callers read, with its webhook's progress. */
export const resultRecord = v.object({
  ...summaryEntries,
  ...bodyEntries,
  limits: attemptLimits,
  message: described(
    v.nullable(v.string()),
    'Where a limit is below what the language’s runtime needs to come up: which one, in words; else null.',
  ),
  attempt: described(
    v.nullable(count),
    'The last attempt’s number, from 1: more than 1 where one was lost, with its worker for example; null before the first one.',
  ),
  cancel_requested_at: described(
    v.nullable(time),
    'When its end was asked for while it ran: the end follows.',
  ),
  webhook: described(
    v.nullable(webhookProgress),
    'null without webhook_url. What is POSTed to the webhook has no webhook, limits, message, attempt and cancel_requested_at.',
  ),
})

type Unchanged<T> = { readonly [Key in keyof T]: Unchanged<T[Key]> }

export type TrackedResult = Unchanged<v.InferOutput<typeof resultRecord>>

/** The record that a webhook carries. It has no progress, so that the body is the same on every attempt. */
export type ResultRecord = Omit<
  TrackedResult,
  'limits' | 'message' | 'attempt' | 'cancel_requested_at' | 'webhook'
>

/** A record without what the program wrote. */
export type ResultSummary = Omit<
  ResultRecord,
  'stdout' | 'stderr' | 'compile_output' | 'difference' | 'tests' | 'files' | 'groups'
>
