// Clients that do what clients should: each submission has an idempotency key, an answer that did not come is asked for
// again under it, and what was acknowledged is remembered. Some they take back, at any moment.
import { randomUUID } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFlaws, followToEnd } from '../helper/stream.ts'
import { draftProgram } from './program.ts'
import type { Known } from './program.ts'
import type { Random } from './random.ts'

/** Of a submission that its client has taken back: how the record stood in the answer; null while there is none. */
export type ToldOfCancel = string | null

/** What was acknowledged, and what must come of it. */
export interface Acknowledged {
  readonly id: string
  readonly expected: Known
  readonly webhook: boolean
}

export interface Load {
  /** By idempotency key. */
  readonly acknowledged: ReadonlyMap<string, Acknowledged>
  /** By id, those whose cancel was sent. */
  readonly cancels: ReadonlyMap<string, ToldOfCancel>
  /** Keys under which two different submissions were acknowledged. */
  readonly doubled: readonly string[]
  /** Answers that no client should see, and records that are not what the program does. */
  readonly wrong: readonly string[]
  /** Answers by status; 0 is a connection that broke. */
  readonly answers: ReadonlyMap<number, number>
  /** Seconds that the slowest answer of a request without `wait` took. */
  readonly slowestSeconds: number
  /** Lets every client finish what it has begun. */
  stop(): Promise<void>
}

export interface LoadOptions {
  readonly clients: number
  /** The keys of the accounts that submit. */
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

/** One request; status 0 when no answer came. */
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

/** What the clients know together. */
interface Tally {
  readonly acknowledged: Map<string, Acknowledged>
  readonly cancels: Map<string, ToldOfCancel>
  readonly doubled: string[]
  readonly wrong: string[]
  readonly answers: Map<number, number>
  slowestSeconds: number
  isStopping: boolean
}

/** What every client does its work with. */
interface Client extends Omit<LoadOptions, 'clients'> {
  readonly tally: Tally
  readonly agent: Agent
}

/** A submission as it is sent, the same each time, and what must come of it. */
interface Draft {
  readonly headers: { readonly 'X-API-Key': string; readonly 'Idempotency-Key': string }
  readonly body: object
  readonly expected: Known
  readonly withWebhook: boolean
  readonly waits: boolean
  /** Somebody follows it while it goes on. */
  readonly isWatched: boolean
  /** So long after the acknowledgement it is taken back; null: it is not. */
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

/** Sends one submission until it is acknowledged, and sees to its end. */
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

/** Notes the id that a submission was acknowledged under, if the answer has one. */
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

/** Cancels until that is answered. */
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

/** Waits for the end of what was acknowledged, and holds it against what the program does. */
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

/** Follows its stream to the end, at any of the web processes, and holds every event against the others. */
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

/** One request to any of the web processes, entered in the tally. @param waits true: it may take its time. */
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
