// Two accounts that work beside an attack: the canary, whose programs do almost nothing, and the victim, whose programs
// compute for a third of a second and have two. Some of the canary's requests are answered by a stream.
import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { call } from '../faults/load.ts'
import type { Body } from './attack.ts'
import type { Service } from './service.ts'

/** The results of both accounts' programs over some time. */
export interface Work {
  /** Milliseconds from the request to the verdict. */
  readonly canary: readonly number[]
  readonly victim: readonly number[]
  /** Results that are wrong on any machine. */
  readonly faults: readonly string[]
  /** Results that a machine that stalls for seconds can also cause. */
  readonly doubts: readonly string[]
}

export interface Company {
  /** Starts the work. The returned function stops it. */
  start(): () => Promise<Work>
}

const canary: Body = { language: 'python', code: 'print(1)' }
const victim: Body = {
  language: 'c',
  code: '#include <stdio.h>\n#include <time.h>\nint main(void) { while (clock() < 0.3 * CLOCKS_PER_SEC); puts("1"); }\n',
  limits: { wall_time: 2, cpu_time: 1 },
}
const canaryPause = 10
const streamEach = 15
/** The number of the canary's programs between two of the victim's. */
const canariesEach = 8

interface Tally {
  readonly times: number[]
  readonly faults: string[]
  readonly doubts: string[]
}

/** Creates the two accounts. */
export async function createCompany({ port, createKey }: Service): Promise<Company> {
  const keys = { canary: await createKey('unlimited'), victim: await createKey('unlimited') }

  async function ask(
    who: 'canary' | 'victim',
    tally: Tally,
    agent: Agent,
    streams: boolean,
  ): Promise<void> {
    const askedAt = performance.now()
    const headers = { 'X-API-Key': keys[who], ...(streams && { Accept: 'text/event-stream' }) }
    const path = streams ? '/api/submit' : '/api/submit?wait=true'
    const answer = await call(
      port,
      'POST',
      path,
      headers,
      who === 'canary' ? canary : victim,
      agent,
    )
    tally.times.push(performance.now() - askedAt)
    const { verdict, stdout } = answer.body
    if (answer.status === 200 && (streams || (verdict === 'AC' && stdout === '1\n'))) return
    const said = `the ${who}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 400)}`
    const isLate = [0, 408, 503].includes(answer.status) || verdict === 'TLE'
    tally[isLate ? 'doubts' : 'faults'].push(said)
    // Pauses so that the neighbours do not flood the service themselves.
    await sleep(100)
  }

  return {
    start() {
      const agent = new Agent({ keepAlive: true })
      const faults: string[] = []
      const doubts: string[] = []
      const tally = (): Tally => ({ times: [], faults, doubts })
      const tallies = { canary: tally(), victim: tally() }
      let stopped = false
      // Both accounts take turns, so that neither waits for the other.
      const work = async (): Promise<void> => {
        for (let count = 1; !stopped; count += 1) {
          await ask('canary', tallies.canary, agent, count % streamEach === 0)
          await sleep(canaryPause)
          if (count % canariesEach === 0) await ask('victim', tallies.victim, agent, false)
        }
      }
      const working = work()
      return async () => {
        stopped = true
        await working
        agent.destroy()
        return { canary: tallies.canary.times, victim: tallies.victim.times, faults, doubts }
      }
    },
  }
}
