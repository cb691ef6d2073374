// Clients that behave well: each submission has an idempotency key, a request without an answer is repeated under its key,
// and every acknowledgement is remembered. Some clients cancel their submissions, at any moment.
import { randomUUID } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFlaws, followToEnd } from '../helper/stream.ts'
import { draftProgram } from './program.ts'
import type { Known } from './program.ts'
import type { Random } from './random.ts'

/** The status in the answer to a cancel; null while there is no answer. */
export type ToldOfCancel = string | null

/** An acknowledged submission, and its expected result. */
export interface Acknowledged {
  readonly id: string
  readonly expected: Known
  readonly webhook: boolean
}

export interface Load {
  /** By idempotency key. */
  readonly acknowledged: ReadonlyMap<string, Acknowledged>
  /** The submissions whose cancel was sent, by id. */
  readonly cancels: ReadonlyMap<string, ToldOfCancel>
  /** Keys under which two different submissions were acknowledged. */
  readonly doubled: readonly string[]
  /** Answers that no client should see, and records that differ from what the program does. */
  readonly wrong: readonly string[]
  /** Answers by status; 0 is a connection that broke. */
  readonly answers: ReadonlyMap<number, number>
  /** Seconds of the slowest answer to a request without `wait`. */
  readonly slowestSeconds: number
  /** Stops after every client has finished what it has started. */
  stop(): Promise<void>
}

export interface LoadOptions {
  readonly clients: number
  /** The API keys of the accounts that submit. */
  readonly keys: readonly string[]
  /** Ports of the web processes. */
  readonly ports: () => readonly number[]
  readonly webhook: { readonly url: string; readonly secret: string }
  readonly random: Random
}

interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
}

const requestMilliseconds = 45_000
const retryMilliseconds = 250
const cancelledShare = 1 / 12
const watchedShare = 1 / 4

/** Makes one request; status 0 when no answer came. */
export async function call(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: object,
  agent?: Agent,
): Promise<Answer> {
  return new Promise((resolve) => {
    const fail = (): void => resolve({ status: 0, body: {} })
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent,
      timeout: requestMilliseconds,
      headers: { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
    })
    request.once('timeout', () => request.destroy())
    request.once('error', fail)
    request.once('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', fail)
      response.once('close', fail)
      response.once('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({
          status: response.statusCode ?? 0,
          body: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {},
        })
      })
    })
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** What all clients together have recorded. */
interface Tally {
  readonly acknowledged: Map<string, Acknowledged>
  readonly cancels: Map<string, ToldOfCancel>
  readonly doubled: string[]
  readonly wrong: string[]
  readonly answers: Map<number, number>
  slowestSeconds: number
  isStopping: boolean
}

/** What every client works with. */
interface Client extends Omit<LoadOptions, 'clients'> {
  readonly tally: Tally
  readonly agent: Agent
}

/** A submission as it is sent, the same each time, and its expected result. */
interface Draft {
  readonly headers: { readonly 'X-API-Key': string; readonly 'Idempotency-Key': string }
  readonly body: object
  readonly expected: Known
  readonly withWebhook: boolean
  readonly waits: boolean
  /** True when a client follows its stream while it runs. */
  readonly isWatched: boolean
  /** The time from the acknowledgement to the cancel; null: no cancel. */
  readonly cancelMilliseconds: number | null
}

/** Starts the clients. */
export function startLoad({ clients, ...options }: LoadOptions): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const tally: Tally = {
    acknowledged: new Map(),
    cancels: new Map(),
    doubled: [],
    wrong: [],
    answers: new Map(),
    slowestSeconds: 0,
    isStopping: false,
  }
  const client: Client = { ...options, tally, agent }
  const running = Array.from({ length: clients }, async () => {
    while (!tally.isStopping) await submitOne(client)
  })
  const { acknowledged, cancels, doubled, wrong, answers } = tally
  return {
    acknowledged,
    cancels,
    doubled,
    wrong,
    answers,
    get slowestSeconds() {
      return tally.slowestSeconds
    },
    async stop() {
      tally.isStopping = true
      await Promise.all(running)
      agent.destroy()
    },
  }
}

/** Sends one submission until it is acknowledged, then follows it to its end. */
async function submitOne(client: Client): Promise<void> {
  const draft = draftSubmission(client)
  const { headers, body, waits, expected, cancelMilliseconds } = draft
  for (;;) {
    const path = `/api/submit${waits ? '?wait=true' : ''}`
    const { status, body: answer } = await ask(client, waits, 'POST', path, headers, body)
    remember(client.tally, draft, answer['id'])
    if (status === 200 || status === 202 || status === 408) {
      const [id, key] = [String(answer['id']), headers['X-API-Key']]
      await Promise.all([
        draft.isWatched ? watchToEnd(client, id, key) : undefined,
        cancelMilliseconds === null ? undefined : takeBack(client, id, key, cancelMilliseconds),
        follow(client, id, key, expected),
      ])
      return
    }
    await sleep(retryMilliseconds)
  }
}

function draftSubmission({ random, keys, webhook }: Client): Draft {
  const { expected, program } = draftProgram(random)
  const withWebhook = random.number() < 0.25
  const waits = random.number() < 0.4
  const isTakenBack = random.number() < cancelledShare
  return {
    headers: { 'X-API-Key': random.pick(keys), 'Idempotency-Key': randomUUID() },
    body: {
      ...program,
      ...(withWebhook && { webhook_url: webhook.url, webhook_secret: webhook.secret }),
    },
    expected,
    withWebhook,
    waits,
    isWatched: random.number() < watchedShare,
    cancelMilliseconds: isTakenBack ? random.between(0, 400) : null,
  }
}

/** Records the id of an acknowledged submission, if the answer has one. */
function remember(
  { acknowledged, doubled }: Tally,
  { headers, expected, withWebhook }: Draft,
  id: unknown,
): void {
  if (typeof id !== 'string') return
  const key = headers['Idempotency-Key']
  const earlier = acknowledged.get(key)
  if (earlier !== undefined && earlier.id !== id) doubled.push(key)
  acknowledged.set(key, { id, expected, webhook: withWebhook })
}

/** Sends a cancel until it is answered. */
async function takeBack(
  client: Client,
  id: string,
  key: string,
  milliseconds: number,
): Promise<void> {
  const { cancels, wrong } = client.tally
  await sleep(milliseconds)
  cancels.set(id, null)
  for (;;) {
    const { status, body } = await ask(client, false, 'POST', `/api/result/${id}/cancel`, {
      'X-API-Key': key,
    })
    if (status === 200) cancels.set(id, String(body['status']))
    if (status === 404) wrong.push(`${id} was acknowledged, and cannot be cancelled`)
    if (status === 200 || status === 404) return
    await sleep(retryMilliseconds)
  }
}

/** Waits until an acknowledged submission has ended, and compares the record with the expected result. */
async function follow(client: Client, id: string, key: string, expected: Known): Promise<void> {
  const { wrong } = client.tally
  const headers = { 'X-API-Key': key, Prefer: 'wait=5' }
  for (;;) {
    const { status, body } = await ask(client, true, 'GET', `/api/result/${id}?wait=true`, headers)
    if (status === 404) wrong.push(`${id} was acknowledged, and is not found`)
    if (body['status'] === 'failed') return
    if (body['status'] === 'cancelled') {
      if (!client.tally.cancels.has(id))
        wrong.push(`${id} was cancelled, and nobody asked for that`)
      return
    }
    if (body['status'] === 'completed') {
      if (!isAsKnown(body, expected)) {
        wrong.push(
          `${id} ended as ${String(body['verdict'])}, ${JSON.stringify(body).slice(0, 300)}`,
        )
      }
      return
    }
    if (status === 404 || client.tally.isStopping) return
    await sleep(retryMilliseconds)
  }
}

/** Follows the submission's stream to the end over any of the web processes, and checks the events against each other. */
async function watchToEnd(
  { ports, random, tally }: Client,
  id: string,
  key: string,
): Promise<void> {
  const followed = followToEnd(
    {
      key,
      path: `/api/result/${id}/stream`,
      port: () => random.pick(ports()),
      isGivenUp: () => tally.isStopping,
    },
    retryMilliseconds,
  )
  const { events } = await followed.catch(() => ({ events: [] }))
  if (events.at(-1)?.event !== 'result' && tally.isStopping) return
  const told = events.map((event) => event.id).join(' ')
  for (const flaw of findFlaws(events))
    tally.wrong.push(`the stream of ${id}: ${flaw}; it told ${told}`)
}

function isAsKnown(body: Record<string, unknown>, { verdict, stdout, tests }: Known): boolean {
  const told = (body['tests'] ?? null) as readonly { readonly verdict: unknown }[] | null
  return (
    body['verdict'] === verdict &&
    body['stdout'] === stdout &&
    JSON.stringify(told?.map((test) => test.verdict) ?? null) === JSON.stringify(tests)
  )
}

/**
 * Sends one request to any of the web processes and counts it.
 * @param waits true when the answer may take its time.
 */
async function ask(
  { ports, random, agent, tally }: Client,
  waits: boolean,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: object,
): Promise<Answer> {
  const startedAt = performance.now()
  const answer = await call(random.pick(ports()), method, path, headers, body, agent)
  if (!waits) {
    tally.slowestSeconds = Math.max(tally.slowestSeconds, (performance.now() - startedAt) / 1000)
  }
  tally.answers.set(answer.status, (tally.answers.get(answer.status) ?? 0) + 1)
  if (![0, 200, 202, 404, 408, 503].includes(answer.status)) {
    tally.wrong.push(`${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`)
  }
  return answer
}
