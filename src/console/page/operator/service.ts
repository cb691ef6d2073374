// What the operators' view asks of its service: as the client does, and again when the service is away.
import { RunledgerError, createOperator } from '#client'
import type {
  BulkRequest,
  BulkSum,
  OrderWord,
  Overview,
  Series,
  StepOptions,
  Verified,
} from '#client'
import { pause } from '#client-retry'
import { call, persist } from '../call.ts'
import type { Follower } from './seen.ts'

const afterFailureMilliseconds = 5000

const operator = createOperator({
  call: (method, path, request) =>
    persist(request?.signal, () => call(method, `/${path}`, request)),
})

// What is pressed is done now or not at all.
const impatient = createOperator({ call: (method, path) => call(method, `/${path}`) })

/** @throws {RunledgerError} for a key that is not valid. */
export async function tryOperatorKey(apiKey: string): Promise<void> {
  await call('GET', '/api/operator/overview', { apiKey })
}

/** Tells how the service stands, each second. */
export const followOverview = createFollower<Overview>(operator.overview, 1000)

/** Tells how the last hours went, and again when that may have changed. */
export const followSeries = createFollower<Series>(operator.series, 15_000)

/** After a failure it goes on, seldom. */
function createFollower<T>(
  look: (given: { readonly signal: AbortSignal }) => Promise<T>,
  everyMilliseconds: number,
): Follower<T> {
  return async (signal, tell, fail) => {
    for (;;) {
      let milliseconds = everyMilliseconds
      try {
        tell(await look({ signal }))
      } catch (error) {
        if (!(error instanceof RunledgerError)) throw error
        fail(error)
        milliseconds = Math.max(milliseconds, afterFailureMilliseconds)
      }
      await pause(milliseconds, signal)
    }
  }
}

export async function orderWorker(id: string, word: OrderWord): Promise<void> {
  await impatient.order(id, word)
}

/** Steps until all was looked at. @throws {RunledgerError} */
export function runBulk(
  request: BulkRequest,
  isDry: boolean,
  options: StepOptions<BulkSum>,
): Promise<BulkSum> {
  return isDry ? operator.count(request, options) : operator.act(request, options)
}

/** Steps until the end of the log. @throws {RunledgerError} */
export function verifyLedger(options: StepOptions<Verified>): Promise<Verified> {
  return operator.verify(options)
}
