// Clients that do what clients should: each submission has an idempotency key, an answer that did not come is asked for
// again under it, and what was acknowledged is remembered.
import { randomUUID } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from './random.ts'

/** What was acknowledged, and what must come of it. */
export interface Acknowledged {
  readonly id: string
  readonly expected: string
  readonly webhook: boolean
}

export interface Load {
  /** By idempotency key. */
  readonly acknowledged: ReadonlyMap<string, Acknowledged>
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

/** Starts the clients. */
export function startLoad(options: LoadOptions): Load {
  const { clients, keys, ports, webhook, random } = options
  const acknowledged = new Map<string, Acknowledged>()
  const doubled: string[] = []
  const wrong: string[] = []
  const answers = new Map<number, number>()
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  let slowestSeconds = 0
  let stopping = false

  async function ask(waits: boolean, ...rest: Parameters<typeof call>): Promise<Answer> {
    const startedAt = performance.now()
    const answer = await call(...rest)
    if (!waits) {
      slowestSeconds = Math.max(slowestSeconds, (performance.now() - startedAt) / 1000)
    }
    answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1)
    if (![0, 200, 202, 404, 408, 503].includes(answer.status)) {
      wrong.push(`${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`)
    }
    return answer
  }

  async function submitOne(): Promise<void> {
    const expected = String(random.between(0, 1e9))
    const milliseconds = random.pick([0, 0, 0, 50, 100, 200, 300])
    const sleeps = milliseconds === 0 ? '' : `import time; time.sleep(${milliseconds / 1000}); `
    const withWebhook = random.number() < 0.25
    const waits = random.number() < 0.4
    const headers = { 'X-API-Key': random.pick(keys), 'Idempotency-Key': randomUUID() }
    const body = {
      language: 'python',
      code: `${sleeps}print(input())`,
      stdin: expected,
      expected_stdout: expected,
      ...(withWebhook && { webhook_url: webhook.url, webhook_secret: webhook.secret }),
    }
    const remember = (id: unknown): void => {
      if (typeof id !== 'string') return
      const key = headers['Idempotency-Key']
      const earlier = acknowledged.get(key)
      if (earlier !== undefined && earlier.id !== id) doubled.push(key)
      acknowledged.set(key, { id, expected, webhook: withWebhook })
    }
    for (;;) {
      const path = `/api/submit${waits ? '?wait=true' : ''}`
      const { status, body: answer } = await ask(waits, random.pick(ports()), 'POST', path, headers, body, agent) // prettier-ignore
      remember(answer['id'])
      if (status === 200 || status === 202 || status === 408) {
        await follow(String(answer['id']), headers['X-API-Key'], expected)
        return
      }
      await sleep(retryMilliseconds)
    }
  }

  async function follow(id: string, key: string, expected: string): Promise<void> {
    for (;;) {
      const { status, body } = await ask(true, random.pick(ports()), 'GET', `/api/result/${id}?wait=true`, { 'X-API-Key': key, Prefer: 'wait=5' }, undefined, agent) // prettier-ignore
      if (status === 404) wrong.push(`${id} was acknowledged, and is not found`)
      if (body['status'] === 'failed') return
      if (body['status'] === 'completed') {
        if (body['verdict'] !== 'AC' || body['stdout'] !== `${expected}\n`) {
          wrong.push(
            `${id} ended as ${String(body['verdict'])}, ${JSON.stringify(body).slice(0, 300)}`,
          )
        }
        return
      }
      if (status === 404 || stopping) return
      await sleep(retryMilliseconds)
    }
  }

  const running = Array.from({ length: clients }, async () => {
    while (!stopping) await submitOne()
  })
  return {
    acknowledged,
    doubled,
    wrong,
    answers,
    get slowestSeconds() {
      return slowestSeconds
    },
    async stop() {
      stopping = true
      await Promise.all(running)
      agent.destroy()
    },
  }
}
