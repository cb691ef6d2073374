// Describes one event in a sentence. A missing field becomes a question mark.
import { schemaVersion } from '#event'
import type { EventData, RecordedEvent } from '#event'
import { escapeControls } from './output.ts'

/** What earlier events of the submission said. The caller updates it after each event. */
export interface StoryContext {
  /** When the submission was received or last requeued. */
  receivedAt: Date | null
  startedAt: Date | null
  attempt: number | null
}

const verdictWords: Readonly<Record<string, string>> = {
  AC: 'accepted',
  WA: 'wrong answer',
  CE: 'compile error',
  RE: 'runtime error',
  TLE: 'time limit',
  MLE: 'memory limit',
  OLE: 'output limit',
}

const lossWords: Readonly<Record<string, string>> = {
  sandbox_failed: 'the sandbox failed',
  worker_lost: 'its worker was lost',
  superseded: 'the same worker started it again',
  shutdown: 'the worker was shutting down',
  lease_expired: 'the worker could no longer renew its lease',
}

type Data = Readonly<Record<string, unknown>>
type Sentence = (data: Data, event: RecordedEvent, context: StoryContext) => string

/** The sentence for each event type that this release knows. */
export const sentences: Readonly<Record<string, Sentence>> = {
  'submission.received': (data, { metadata }) =>
    sentence(
      `Received: ${say(data['language'])}, ${bytes(data, 'code')} of code, ${bytes(data, 'stdin')} of stdin`,
      data['expected_stdout'] ? `an expected output of ${bytes(data, 'expected_stdout')}` : '',
      data['webhook'] ? describeWebhook(part(data, 'webhook')) : '',
      data['batch'] === undefined ? '' : `in the batch ${say(data['batch'])}`,
      data['rerun_of'] === undefined ? '' : `a rerun of ${say(data['rerun_of'])}`,
      data['campaign'] === undefined
        ? `request ${say(metadata['request'])}`
        : `in the campaign ${say(data['campaign'])} of ${actorOf(metadata)}`,
    ),
  'batch.received': (data, { metadata }) =>
    sentence(
      `Received: a batch of ${count(Object.keys(part(data, 'submissions')).length, 'submission')}`,
      describeWebhook(part(data, 'webhook')),
      `request ${say(metadata['request'])}`,
    ),
  'execution.started': (data, { at }, { receivedAt }) => {
    const run = part(part(data, 'limits'), 'run')
    return sentence(
      `Attempt ${say(data['attempt'])} started after ${between(receivedAt, at)} of waiting, on worker ${say(data['worker'])} of host ${say(data['host'])}`,
      `with ${say(data['runtime'])}`,
      `limits ${say(run['cpu_time'])} s of CPU, ${say(run['wall_time'])} s in all, ${mebibytes(run['memory'])}, ${count(run['processes'], 'process', 'processes')}`,
      `isolation ${list(part(data, 'isolation'))}`,
    )
  },
  'execution.completed': (data, { at }, { startedAt }) =>
    describeSteps(
      describeCompile(part(data, 'compile')),
      describeRun(data),
      `The attempt took ${between(startedAt, at)}.`,
      describeTests(data['tests']),
      `Verdict ${say(data['verdict'])}: ${verdictWords[String(data['verdict'])] ?? 'unknown'}.`,
    ),
  'execution.interrupted': (data, { at }, { attempt, startedAt }) =>
    sentence(
      `Attempt ${attempt ?? '?'} was lost after ${between(startedAt, at)}: ${describeLoss(data['reason'])}`,
      data['step'] === undefined ? '' : `at ${say(data['step'])}: ${say(data['message'])}`,
      data['spends_attempt'] === true ? 'it counts as a loss' : 'it does not count as a loss',
    ),
  'execution.abandoned': (data) =>
    `Abandoned after ${count(data['losses'], 'loss', 'losses')}. Verdict IE: internal error.`,
  'submission.cancel_requested': (data, { metadata }) =>
    sentence(
      `Cancelled by ${actorOf(metadata)}, request ${say(metadata['request'])}`,
      `worker ${say(data['worker'])} must end attempt ${say(data['attempt'])}`,
    ),
  'submission.cancelled': (data, { at, metadata }, { startedAt }) => {
    if (data['lost'] !== undefined)
      return `Cancelled; the attempt was lost before its worker could end it: ${describeLoss(data['lost'])}.`
    if (data['stdout'] === undefined)
      return `Cancelled while it waited, by ${actorOf(metadata)}; request ${say(metadata['request'])}.`
    return describeSteps(
      describeCompile(part(data, 'compile')),
      describeRun(data),
      `Cancelled; the attempt took ${between(startedAt, at)}.`,
    )
  },
  'submission.purged': (data) =>
    `Code, input and outputs were removed (${say(data['reason'])}); their hashes and sizes stay here.`,
  'webhook.attempt_failed': (data) =>
    sentence(
      `${describeAttempt(data)} failed: ${say(data['outcome'])}`,
      data['snippet'] === '' ? '' : say(data['snippet']),
      data['next_attempt_at']
        ? `the next attempt is due ${say(data['next_attempt_at'])}`
        : 'it was the last attempt',
    ),
  'webhook.delivered': (data) => `${describeAttempt(data)} was delivered.`,
  'webhook.abandoned': (data) =>
    `The webhook was abandoned after ${count(data['attempts'], 'attempt')}: ${say(data['reason'])}.`,
  'webhook.replayed': (_, { metadata }) =>
    `The webhook is sent again, as ${actorOf(metadata)} asked.`,
  'api_key.issued': (data, { metadata }) =>
    sentence(
      data['role'] === 'operator'
        ? `Operator’s key ${say(data['label'])}… issued for account ${say(data['account'])}`
        : `Key ${say(data['label'])}… issued for account ${say(data['account'])}, tier ${say(data['tier'])}`,
      data['name'] === undefined ? '' : `named ${say(data['name'])}`,
      data['read_only'] === true ? 'read-only' : '',
      data['replaces'] ? `in place of ${say(data['replaces'])}` : '',
      data['expires_at'] ? `valid until ${say(data['expires_at'])}` : '',
      `by ${actorOf(metadata)}`,
    ),
  'api_key.rotated': (data) =>
    `Replaced by ${say(data['replaced_by'])}; it works until ${say(data['works_until'])}.`,
  'api_key.changed': (data, { metadata }) =>
    `Changed to tier ${say(data['tier'])} by ${actorOf(metadata)}.`,
  'api_key.revoked': (_, { metadata }) => `Revoked by ${actorOf(metadata)}.`,
  'tier.defined': (data, { metadata }) =>
    sentence(
      `Tier ${say(data['name'])} was set to ${limit(data['requests_per_minute'])} requests a minute, ${limit(data['concurrent_executions'])} executions at once`,
      data['limits'] === undefined || Object.keys(part(data, 'limits')).length === 0
        ? ''
        : `a submission’s own limits at most ${list(part(data, 'limits'))}`,
      `by ${actorOf(metadata)}`,
    ),
  'worker.paused': onHost((actor) => `paused by ${actor}; it takes no submissions`),
  'worker.resumed': onHost((actor) => `resumed by ${actor}`),
  'worker.drained': onHost((actor) => `drained by ${actor}; it finishes its programs and exits`),
  'worker.restarted': onHost(
    (actor) => `restarted by ${actor}; it finishes its programs and starts again`,
  ),
} satisfies Record<keyof EventData, Sentence>

function onHost(describe: (actor: string) => string): Sentence {
  return (data, { metadata }) => `On host ${say(data['host'])}: ${describe(actorOf(metadata))}.`
}

/** Returns the sentence for an event. An event of a newer release is shown as its JSON. */
export function describeEvent(event: RecordedEvent, context: StoryContext): string {
  const { type, data } = event
  const write = Object.hasOwn(sentences, type) ? sentences[type] : undefined
  if (write === undefined || event.schemaVersion > schemaVersion)
    return `${type}, version ${event.schemaVersion}, which this release does not know: ${say(JSON.stringify(data))}`
  return write(data, event, context)
}

function describeLoss(reason: unknown): string {
  return lossWords[say(reason)] ?? say(reason)
}

function describeSteps(...steps: readonly string[]): string {
  return steps.filter((text) => text !== '').join(' ')
}

/** Lists the verdicts of a submission's tests; empty without tests. */
function describeTests(tests: unknown): string {
  if (!Array.isArray(tests)) return ''
  const verdicts = tests.map((test: Data) => say(test['verdict'] ?? 'not run'))
  return `${count(tests.length, 'test')}: ${verdicts.join(', ')}.`
}

function describeCompile(compile: Data): string {
  if (compile['wall_time'] === undefined) return ''
  if (compile['cached'] === true) return 'The compiled program came from the cache.'
  return `Compiling took ${seconds(compile['wall_time'])} (${seconds(compile['cpu_time'])} of CPU) and exited with ${say(compile['exit_code'])}.`
}

function describeRun(data: Data): string {
  const run = part(data, 'run')
  if (run['wall_time'] === undefined) return 'The program did not run.'
  const end = run['signal']
    ? `was ended by ${say(run['signal'])}`
    : `exited with ${say(run['exit_code'])}`
  const cut = (name: string): string =>
    part(data, name)['truncated'] === true ? ' and more, which was cut off,' : ''
  return `The program ran ${seconds(run['wall_time'])} (${seconds(run['cpu_time'])} of CPU, ${mebibytes(run['memory_peak'])} at its peak), wrote ${bytes(data, 'stdout')}${cut('stdout')} to stdout and ${bytes(data, 'stderr')}${cut('stderr')} to stderr, and ${end}.`
}

function describeWebhook({ host, format }: Data): string {
  return format === 'judge0' ? `a Judge0 callback to ${say(host)}` : `a webhook to ${say(host)}`
}

function describeAttempt(data: Data): string {
  const status = data['status'] === null ? 'no answer' : `answer ${say(data['status'])}`
  return `Attempt ${say(data['attempt'])} to deliver the webhook (${status}, ${seconds(data['duration_seconds'])})`
}

function part(data: Data, name: string): Data {
  const found = Object.hasOwn(data, name) ? data[name] : null
  return typeof found === 'object' && found !== null ? (found as Data) : {}
}

function sentence(...clauses: readonly string[]): string {
  return `${clauses.filter((clause) => clause !== '').join('; ')}.`
}

function limit(value: unknown): string {
  return value === null ? 'unlimited' : say(value)
}

function actorOf(metadata: Data): string {
  return list(part(metadata, 'actor'))
}

function list(data: Data): string {
  return Object.entries(data)
    .map(([name, value]) => `${name} ${say(value)}`)
    .join(', ')
}

function seconds(value: unknown): string {
  return typeof value === 'number' ? `${value.toFixed(3)} s` : '? s'
}

function between(from: Date | null, to: Date): string {
  return seconds(from === null ? undefined : (to.getTime() - from.getTime()) / 1000)
}

function bytes(data: Data, name: string): string {
  return count(part(data, name)['bytes'], 'byte')
}

function count(value: unknown, one: string, many = `${one}s`): string {
  return `${say(value)} ${value === 1 ? one : many}`
}

function mebibytes(value: unknown): string {
  return typeof value === 'number' ? `${(value / 1_048_576).toFixed(1)} MiB` : '? MiB'
}

/** Formats a value without control characters, because strangers' text must not control the terminal. */
function say(value: unknown): string {
  if (value === undefined || value === null) return '?'
  return escapeControls(typeof value === 'string' ? value : JSON.stringify(value))
}
