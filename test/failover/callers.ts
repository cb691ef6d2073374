// Callers that submit without waiting, one at each web process, and record each answer and its time.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Told {
  /** By performance.now(). */
  readonly at: number
  readonly seconds: number
  /** 0: the connection broke. */
  readonly status: number
  readonly retryAfter: boolean
}

export interface Callers {
  /** Requests so far. */
  readonly sent: number
  /** Acknowledged ids. */
  readonly acknowledged: readonly string[]
  /** Returns the answers since the last call. */
  take(): Told[]
  stop(): Promise<void>
}

const betweenMilliseconds = 150
const requestMilliseconds = 20_000

export function startCallers(ports: readonly number[], apiKey: string): Callers {
  const acknowledged: string[] = []
  let told: Told[] = []
  let [sent, isStopping] = [0, false]
  const headers = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' }
  const body = JSON.stringify({ language: 'python', code: 'print(1)' })

  async function submit(port: number): Promise<void> {
    const at = performance.now()
    sent += 1
    let [status, retryAfter] = [0, false]
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/api/submit`, {
        method: 'POST',
        headers: { ...headers, 'Idempotency-Key': randomUUID() },
        body,
        signal: AbortSignal.timeout(requestMilliseconds),
      })
      const { id } = (await answer.json()) as { id?: string }
      status = answer.status
      retryAfter = answer.headers.has('retry-after')
      if (status === 202 && id !== undefined) acknowledged.push(id)
    } catch {
      // the web process is being restarted
    }
    told.push({ at, seconds: (performance.now() - at) / 1000, status, retryAfter })
  }

  const running = ports.map(async (port) => {
    while (!isStopping) {
      await submit(port)
      await sleep(betweenMilliseconds)
    }
  })
  return {
    get sent() {
      return sent
    },
    acknowledged,
    take() {
      const taken = told
      told = []
      return taken
    },
    async stop() {
      isStopping = true
      await Promise.all(running)
    },
  }
}
