// Callers that submit without waiting, and record what they sent, when, and what was acknowledged.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Sent {
  readonly body: object
  readonly idempotencyKey: string
  /** By performance.now(). */
  readonly sentAt: number
  readonly acknowledgedAt: number
  readonly id: string
}

export interface Callers {
  /** The acknowledged submissions so far. */
  readonly sent: readonly Sent[]
  stop(): Promise<void>
}

const requestMilliseconds = 60_000
const retryMilliseconds = 250

/** Submits until an answer acknowledges it, under one key. An earlier key repeats its submission. */
export async function send(
  port: number,
  apiKey: string,
  body: object,
  idempotencyKey: string = randomUUID(),
): Promise<Sent> {
  for (;;) {
    const sentAt = performance.now()
    const answer = await fetch(`http://127.0.0.1:${port}/api/submit`, {
      method: 'POST',
      headers: {
        'X-API-Key': apiKey,
        'Content-Type': 'application/json',
        'Idempotency-Key': idempotencyKey,
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(requestMilliseconds),
    }).catch(() => null)
    if (answer?.ok === true) {
      const { id } = (await answer.json()) as { id: string }
      return { body, idempotencyKey, sentAt, acknowledgedAt: performance.now(), id }
    }
    await sleep(retryMilliseconds)
  }
}

/** Starts callers. Each submits programs that sleep for a moment, one after another. */
export function startCallers(count: number, port: number, apiKey: string): Callers {
  const sent: Sent[] = []
  let isStopping = false
  const running = Array.from({ length: count }, async (_, index) => {
    for (let turn = 0; !isStopping; turn += 1) {
      const code = `import time; time.sleep(0.1); print(${index}, ${turn})`
      sent.push(await send(port, apiKey, { language: 'python', code }))
      await sleep(100)
    }
  })
  return {
    sent,
    async stop() {
      isStopping = true
      await Promise.all(running)
    },
  }
}
