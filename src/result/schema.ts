// The schema of the HTTP API's result record, in seconds, bytes, and RFC 3339 in UTC. Types and the OpenAPI document are
// derived from it.
import * as v from 'valibot'
import { retries } from '#error'
import { exceededLimits, verdicts } from '#event'
import { languages } from '#language'
import { count, described, seconds, utcTime as time, uuid } from '#schema'
import type { DeepReadonly } from '#schema'
import { recordedLimits } from './limits.ts'

export const resultStatuses = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const
export type ResultStatus = (typeof resultStatuses)[number]

export const webhookStates = ['waiting', 'pending', 'delivered', 'abandoned'] as const
export type WebhookState = (typeof webhookStates)[number]

const points = v.pipe(v.number(), v.minValue(0))
// The type is `string`, because a later release may have run a language that this one does not know.
const language: v.GenericSchema<string> = v.picklist(languages)

/** The entries of a record without what the program wrote. */
export const summaryEntries = {
  id: described(uuid, 'A UUID v7, so that ids sort by time.'),
  status: described(
    v.picklist(resultStatuses),
    'completed: the result of the program is known, whatever its verdict. failed: the service could not run the program (verdict IE). cancelled: the submission was cancelled.',
  ),
  verdict: described(
    v.nullable(v.picklist(verdicts)),
    'AC accepted, WA wrong answer, CE compile error, RE runtime error, TLE time limit, MLE memory limit, OLE output limit, IE internal error; null until the end, and for a cancelled submission.',
  ),
  fault: described(
    v.nullable(v.picklist(['program', 'checker', 'platform'])),
    'What caused a verdict other than AC: the program, the caller’s own checker, or the service (platform: IE with status failed). null for AC, until the end, and for a cancelled submission.',
  ),
  retry: described(
    v.nullable(v.picklist(retries)),
    'never: the result would be the same. new_key: the service failed; submit the program again with a new Idempotency-Key. null until the end.',
  ),
  exit_code: described(
    v.nullable(v.pipe(v.number(), v.integer())),
    'The program’s exit code; 128 + n when signal n ended the program; null if the program never ran.',
  ),
  signal: described(
    v.nullable(v.string()),
    'The signal that ended the program, such as SIGSEGV; null when none did.',
  ),
  stdout_truncated: v.nullable(v.boolean()),
  stderr_truncated: v.nullable(v.boolean()),
  cpu_time: described(v.nullable(seconds), 'CPU time in seconds, user + system.'),
  wall_time: described(v.nullable(seconds), 'Seconds from the program’s start to its end.'),
  memory_peak: described(v.nullable(count), 'Peak memory in bytes.'),
  language,
  runtime: described(v.nullable(v.string()), 'The exact version that ran.'),
  created_at: time,
  started_at: v.nullable(time),
  finished_at: v.nullable(time),
  purged_at: described(
    v.nullable(time),
    'When stdout, stderr, compile_output, tests and files were removed, after the retention period or by their account. They are null from then on.',
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
          'true: the compiled program of an earlier submission was used, and these are the figures of its compilation.',
        ),
      }),
    ),
    'The compiler’s exit code and usage, in seconds and bytes; null for a language without a compiler, and until the end.',
  ),
  limit: described(
    v.nullable(v.picklist(exceededLimits)),
    'The limit that ended the run; null when none did. total_time: the time that the compiler, tests and checkers of one submission may take together in its key’s tier; the tests after the one that reached it are not run.',
  ),
  tag: v.nullable(v.string()),
  rerun_of: described(
    v.nullable(uuid),
    'The id of the first submission, if this is a rerun of it, or a rerun of such a rerun; otherwise null.',
  ),
  score: v.optional(
    described(
      points,
      'The points of the passed tests, or of the passed groups. Like max_score and groups, it is absent when the request gives no points, and until the end.',
    ),
  ),
  max_score: v.optional(points),
}

const difference = described(
  v.nullable(
    v.object({
      line: described(count, 'The number of the line, from 1.'),
      expected: v.nullable(v.string()),
      got: v.nullable(v.string()),
    }),
  ),
  'Where the output differs from the expected output: at most 200 characters of each line; null for a line that does not exist. null unless the verdict is WA.',
)

const test = v.object({
  name: v.nullable(v.string()),
  verdict: described(
    v.nullable(v.picklist(verdicts)),
    'null: the test was not run, and its other results are null too.',
  ),
  exit_code: v.nullable(v.pipe(v.number(), v.integer())),
  signal: v.nullable(v.string()),
  cpu_time: v.nullable(seconds),
  wall_time: v.nullable(seconds),
  memory_peak: v.nullable(count),
  stdout: described(
    v.nullable(v.string()),
    'The first 64 KiB; at most 1 MiB of all tests together.',
  ),
  stderr: v.nullable(v.string()),
  stdout_truncated: described(
    v.nullable(v.boolean()),
    'true: the program wrote more than stdout has.',
  ),
  stderr_truncated: v.nullable(v.boolean()),
  limit: v.nullable(v.picklist(exceededLimits)),
  difference,
  message: described(v.nullable(v.string()), 'The message of the checker or interactor.'),
})

const file = v.object({
  name: v.string(),
  size: described(count, 'The size in bytes.'),
  sha256: described(
    v.nullable(v.string()),
    'The SHA-256 of the content, in hexadecimal; null without content.',
  ),
  content: described(
    v.nullable(v.string()),
    'The content in base64; null when it did not fit into 1 MiB beside the files before it.',
  ),
})

const bodyEntries = {
  files: described(
    v.nullable(v.array(file)),
    'The files named in output_files that the run has left, in the order of output_files; null when none were requested, until the end, and when purged.',
  ),
  difference,
  tests: described(
    v.nullable(v.array(test)),
    'The results of the tests, in the order of the request; null without tests, until the end, and when purged.',
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
      'The results of the groups, in the order of the request; null without groups, and when purged.',
    ),
  ),
}

export const attemptLimits = described(
  v.nullable(recordedLimits),
  'The limits in force in the last attempt, in seconds and bytes; null until the first attempt has started.',
)

const webhookProgress = v.object({
  id: described(uuid, 'The webhook-id header of all attempts.'),
  state: described(
    v.picklist(webhookStates),
    'waiting: the submission is not final; pending: an attempt is due; delivered, abandoned: no attempt follows.',
  ),
  attempts: count,
  next_attempt_at: described(
    v.nullable(time),
    'When the next attempt is due; null unless state is pending.',
  ),
  last_error: described(
    v.nullable(v.string()),
    'Why the last attempt failed, as a text such as "the receiver answered 503"; null before the first failure and after delivery.',
  ),
})

/** The record that callers read, with its webhook's progress. */
export const resultRecord = v.object({
  ...summaryEntries,
  ...bodyEntries,
  limits: attemptLimits,
  message: described(
    v.nullable(v.string()),
    'When a limit is too low for the language’s runtime to start: a sentence that names the limit; otherwise null.',
  ),
  attempt: described(
    v.nullable(count),
    'The number of the last attempt, from 1. It is more than 1 when an attempt was lost, for example with its worker. null until the first attempt.',
  ),
  cancel_requested_at: described(
    v.nullable(time),
    'When cancellation was requested while the submission ran. The end follows.',
  ),
  webhook: described(
    v.nullable(webhookProgress),
    'The state of the webhook; null without webhook_url. The record that is POSTed to the webhook does not have webhook, limits, message, attempt or cancel_requested_at.',
  ),
})

export type TrackedResult = DeepReadonly<v.InferOutput<typeof resultRecord>>

/** A record without what the program wrote. */
export type ResultSummary = Pick<TrackedResult, keyof typeof summaryEntries>

/** The record that a webhook carries. It has no progress, so that the body is the same on every attempt. */
export type ResultRecord = ResultSummary & Pick<TrackedResult, keyof typeof bodyEntries>
