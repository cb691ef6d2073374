// The requests of the operators' view. They use the client and are retried while the service is unavailable.
import { RunledgerError, createOperator } from '#client'
import type { Found, Operator, Overview, Series, Webhook } from '#client'
import { pause } from '#client-retry'
import { call, reach } from '../call.ts'
import type { Behind } from '../route.ts'
import { whileVisible } from '../screen.ts'
import type { Follower } from '../work.ts'

const afterFailureMilliseconds = 5000

/** @param signal of all requests that have none of their own. */
const createAsker = (signal?: AbortSignal): Operator =>
  createOperator({
    call: (method, path, request) => reach(method, `/${path}`, { signal, ...request }),
  })

/** Waits out passing failures. */
export const operator = createAsker()

/** As GET /api/operator/running returns it. */
export interface RunningOne {
  readonly submission: string
  readonly account: string | null
  readonly api_key: string | null
  readonly language: string
  readonly attempt: number
  readonly host: string | null
  readonly seconds: number | null
}

/** As GET /api/operator/workers?gone=true returns it. */
export interface EndedWorker {
  readonly id: string
  readonly host: string
  readonly pid: number
  /** gone: the worker is silent; lost: it was declared lost; drained: it ended by itself. */
  readonly state: string
  readonly version: string | null
  readonly started_at: string
  readonly heartbeat_seconds: number
}

/** Holds only the list that was requested. */
export interface Listed {
  readonly running?: readonly RunningOne[]
  readonly webhooks?: readonly Webhook[]
  readonly ended?: readonly EndedWorker[]
  readonly found?: Found
}

const mostWebhooks = 50
const ended = ['gone', 'lost', 'drained']

/** Loads a list or looks up a text. @throws {RunledgerError} */
export async function listBehind(
  asked: Behind | { readonly q: string },
  signal: AbortSignal,
): Promise<Listed> {
  const asker = createAsker(signal)
  if (asked === 'running') return { running: (await asker.running()) as unknown as RunningOne[] }
  if (asked === 'webhooks')
    return { webhooks: await asker.webhooks({ state: 'pending', limit: mostWebhooks }) }
  if (asked === 'ended') {
    const workers = (await asker.workers({ gone: true })) as unknown as EndedWorker[]
    return { ended: workers.filter(({ state }) => ended.includes(state)) }
  }
  return { found: await asker.find(asked.q) }
}

/** Sends each request once, because a pressed button must act now or not at all. */
export const impatient = createOperator({ call: (method, path) => call(method, `/${path}`) })

/** Reports the overview each second. */
export const followOverview = createFollower<Overview>(operator.overview, 1000)

/** Reports the figures of the last hours, and again when they may have changed. */
export const followSeries = createFollower<Series>(operator.series, 15_000)

/** Returns a function that reads again and again while the page is visible. After a failure it waits longer. */
function createFollower<T>(
  look: (given: { readonly signal: AbortSignal }) => Promise<T>,
  everyMilliseconds: number,
): Follower<T> {
  return (pageSignal, update, fail) =>
    whileVisible(pageSignal, async (signal) => {
      for (;;) {
        let milliseconds = everyMilliseconds
        try {
          update(await look({ signal }))
        } catch (error) {
          if (!(error instanceof RunledgerError)) throw error
          fail(error)
          milliseconds = Math.max(milliseconds, afterFailureMilliseconds)
        }
        await pause(milliseconds, signal)
      }
    })
}
