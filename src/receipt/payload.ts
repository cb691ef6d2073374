// The payload of a receipt. It is made from the log only, so it outlives the bodies, and every process makes the same
// bytes. The schemas list the fields of events one by one, so that no worker, host or key gets into a receipt.
import * as v from 'valibot'
import type { Database } from '#database'
import { readStream, verdicts } from '#event'
import type { RecordedEvent } from '#event'
import { resultStatuses } from '#result'
import type { ResultStatus } from '#result'
import { described } from '#schema'

const digest = v.object({ sha256: v.string(), bytes: v.number() })
const outputDigest = v.object({ ...digest.entries, truncated: v.boolean() })
const facts = v.record(v.string(), v.unknown())
const time = v.pipe(v.string(), v.isoTimestamp())

// A receipt has its fields in the order of these schemas. Another order would be other bytes.
const requestSchema = v.object({
  language: v.string(),
  code: digest,
  stdin: digest,
  expected_stdout: v.nullable(digest),
  detail: described(
    v.nullable(digest),
    'Digest of files, tests, arguments, limits and checker together.',
  ),
  blobs: described(
    v.nullable(v.array(digest)),
    'The first 32 blobs that the request names in place of inputs and expected outputs, which are then empty.',
  ),
  rerun_of: v.nullable(v.string()),
  limits: v.nullable(facts),
  checker_language: v.nullable(v.string()),
  tag: v.nullable(v.string()),
  output_encoding: v.nullable(v.string()),
})

const executionSchema = v.object({
  attempt: v.number(),
  language: v.string(),
  runtime: v.string(),
  limits: facts,
  isolation: facts,
  started_at: time,
})

const endSchema = v.object({
  at: time,
  status: v.picklist(resultStatuses),
  verdict: v.nullable(v.picklist(verdicts)),
  exit_code: v.nullable(v.number()),
  signal: v.nullable(v.string()),
  limit: v.nullable(v.string()),
  compile: v.nullable(facts),
  run: v.nullable(facts),
  stdout: v.nullable(outputDigest),
  stderr: v.nullable(outputDigest),
  compile_output: v.nullable(outputDigest),
  report: v.nullable(digest),
  tests: described(
    v.nullable(v.array(facts)),
    'When there are many tests, the later ones have only their verdict.',
  ),
  files: described(
    v.nullable(v.array(facts)),
    'The files named in `output_files` that the run has left.',
  ),
})

/** A change of the fields needs a new `version`. Times are RFC 3339 in UTC. Null: not requested, or not known. */
export const receiptSchema = v.object({
  version: v.literal(1),
  submission: v.pipe(v.string(), v.uuid()),
  request: requestSchema,
  execution: described(v.nullable(executionSchema), 'The last attempt; null when none started.'),
  end: endSchema,
  events: described(
    v.array(
      v.object({
        position: v.number(),
        version: v.number(),
        type: v.string(),
        at: time,
        hash: v.string(),
      }),
    ),
    'The events up to the end. hash: SHA-256 over the event and the previous hash.',
  ),
})

export type Receipt = v.InferOutput<typeof receiptSchema>

/** The event types that end a submission, and the status that each one gives it. */
const ends: Readonly<Record<string, ResultStatus>> = {
  'execution.completed': 'completed',
  'execution.abandoned': 'failed',
  'submission.cancelled': 'cancelled',
}

/**
 * Returns the bytes to sign. They never change, because events after the submission's end are left out.
 * @param source the view `audit.event` for auditors, who may read nothing else.
 * @returns null while the submission has not ended, or when no such submission exists.
 */
export async function readReceipt(
  sql: Database,
  id: string,
  source: Parameters<typeof readStream>[2] = 'runledger.event',
): Promise<Buffer | null> {
  const stream = await readStream(sql, id, source)
  const events = stream.slice(0, stream.findIndex(({ type }) => type in ends) + 1)
  const [received] = events
  const end = events.at(-1)
  if (received?.type !== 'submission.received' || end === undefined) return null
  const receipt: Receipt = {
    version: 1,
    submission: id.toLowerCase(),
    request: pick(received.data, requestSchema),
    execution: describeExecution(events.findLast(({ type }) => type === 'execution.started')),
    end: describeEnd(end),
    events: events.map(({ position, version, type, at, hash }) => ({
      position,
      version,
      type,
      at: at.toISOString(),
      hash,
    })),
  }
  return Buffer.from(JSON.stringify(receipt))
}

// The log's data is trusted, but loosely typed, because later releases also write it. Each field has the type that the
// schema gives, or is null.
function pick<Name extends string>(
  data: RecordedEvent['data'],
  { entries }: { readonly entries: Readonly<Record<Name, unknown>> },
): Record<Name, never> {
  const fields = Object.keys(entries).map((name) => [name, data[name] ?? null])
  return Object.fromEntries(fields) as Record<Name, never>
}

function describeExecution(started: RecordedEvent | undefined): Receipt['execution'] {
  if (started === undefined) return null
  return { ...pick(started.data, executionSchema), started_at: started.at.toISOString() }
}

function describeEnd({ type, at, data }: RecordedEvent): Receipt['end'] {
  const found = pick(data, endSchema)
  return {
    ...found,
    at: at.toISOString(),
    status: ends[type] ?? 'failed',
    // An abandoned submission is the service's failure, and its event has no verdict.
    verdict: type === 'execution.abandoned' ? 'IE' : found.verdict,
  }
}
