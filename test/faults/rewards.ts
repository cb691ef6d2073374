// Submits many programs of known reward with the published TypeScript client and its own retries, over connections that
// break. At the end the log shows how often each program ran, and under which key.
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '#client'
import type { Client, Result } from '#client'
import type { Database } from '#database'
import { describeError } from '#error-text'
import { judgeRewards, tagStart } from './reward-history.ts'
import type { Asked, RewardJudgement } from './reward-history.ts'
import { draftRewarded, draftSlow } from './reward.ts'
import type { Reward, Rewarded } from './reward.ts'
import type { Random } from './random.ts'

export interface Rewards {
  /** Allows the first `count` programs to start. */
  allow(count: number): void
  /** Starts a program that runs for seconds. @returns its tag. */
  beginSlowly(): string
  /** True when every program has its reward. */
  readonly isOver: boolean
  /** Allows all remaining programs to start. Resolves when each has its reward, or after so many seconds. */
  finish(seconds: number): Promise<void>
  /** Judges the programs. Call it when the log is quiet. */
  judge(sql: Database): Promise<RewardJudgement>
}

export interface RewardsOptions {
  readonly programs: number
  readonly clients: number
  readonly url: string
  readonly apiKey: string
  readonly random: Random
}

// No outage lasts as long as all retries, with five seconds between two of them.
const retries = 60

/** Starts the clients. They start no program before it is allowed. */
export function startRewards({ programs, clients, url, apiKey, random }: RewardsOptions): Rewards {
  const asked = new Map<string, Asked>()
  const known = new Map<string, Reward>()
  const wrong = new Map<string, string>()
  let [begun, ended, allowed] = [0, 0, 0]
  const client = createClient({ url, apiKey, retries, fetch: watch(asked) })
  const nameNext = (): string => `${tagStart}${(begun += 1)}`
  const begin = async (tag: string, { request, reward }: Rewarded): Promise<void> => {
    known.set(tag, reward)
    try {
      const flaw = compare(await runToReward(client, { ...request, tag }), reward)
      if (flaw !== null) wrong.set(tag, `${JSON.stringify(request).slice(0, 200)}: ${flaw}`)
    } catch (error) {
      wrong.set(tag, `no reward: ${describeError(error)}`)
    }
    ended += 1
  }
  const running = Array.from({ length: clients }, async () => {
    while (begun < programs) {
      if (begun < allowed) await begin(nameNext(), draftRewarded(random))
      else await sleep(50)
    }
  })
  return {
    allow: (count) => void (allowed = Math.max(allowed, count)),
    beginSlowly() {
      const tag = nameNext()
      running.push(begin(tag, draftSlow()))
      return tag
    },
    get isOver() {
      return ended >= programs
    },
    async finish(seconds) {
      allowed = programs
      await Promise.race([Promise.all(running), sleep(seconds * 1000, null, { ref: false })])
      if (ended < programs) wrong.set('the end', `${programs - ended} programs have no reward`)
    },
    judge: (sql) => judgeRewards(sql, asked, known, wrong),
  }
}

/** Runs a request again, as a caller would, when the client stops retrying faults of the platform. */
async function runToReward(client: Client, request: Parameters<Client['run']>[0]): Promise<Result> {
  for (;;) {
    const result = await client.run(request)
    if (result.fault !== 'platform') return result
  }
}

/** Records the result of each request that has a key. */
function watch(asked: Map<string, Asked>): typeof fetch {
  return async (input, init) => {
    const key = new Headers(init?.headers).get('idempotency-key')
    if (key === null) return fetch(input, init)
    const about = asked.get(key) ?? { isCut: false, answeredOf: 0, ids: new Set() }
    asked.set(key, about)
    const sentAt = Date.now()
    try {
      const response = await fetch(input, init)
      const { id } = (await response.clone().json()) as { id?: unknown }
      if (typeof id === 'string') about.ids.add(id)
      about.answeredOf = sentAt
      return response
    } catch (error) {
      about.isCut = true
      throw error
    }
  }
}

/** @returns how the record differs from the expected one; null when it does not. */
function compare(result: Result, { verdict, stdout, tests }: Reward): string | null {
  const isSame =
    result.status === 'completed' &&
    result.verdict === verdict &&
    result.fault === (verdict === 'AC' ? null : 'program') &&
    result.retry === 'never' &&
    (stdout === null || result.stdout === stdout) &&
    JSON.stringify(result.tests?.map((test) => test.verdict) ?? null) === JSON.stringify(tests)
  return isSame ? null : `${verdict} is due, it got ${JSON.stringify(result).slice(0, 400)}`
}
