// Tries channels in every way in which two runs may follow or accompany each other: in one box, where both ends must understand
// each other; in turn in one slot; at once in two slots; and between a program and its interactor.
import type { Executor } from '#executor'
import type { Channel } from './channel.ts'
import { judgeControl, judgeExchange } from './judge.ts'
import type { Result } from './judge.ts'
import { exchangeInPair } from './pair.ts'
import type { Attacker } from './program.ts'

/** A channel in a language, and the program that plays both ends. */
export interface Exchange {
  readonly title: string
  readonly channel: Channel
  readonly language: Attacker
  readonly code: string
}

/** Runs the program in a role: `both`, `send`, `leave` or `receive`. */
export type Play = (exchange: Exchange, role: string) => Promise<Result>

export interface Stage {
  /** Plays in the only slot of an executor. */
  readonly single: Play
  /** Plays in an executor with two slots for each channel. */
  readonly many: Play
  /** That executor. */
  readonly executor: Executor
}

export interface Tried {
  readonly results: readonly Result[]
  readonly faults: readonly string[]
}

/** Tries channels at once. The result of each is at the same position. */
export async function exchangeAll(
  group: readonly Exchange[],
  { single, many, executor }: Stage,
): Promise<Tried[]> {
  // Also compiles each program once.
  const controls = await Promise.all(group.map((one) => many(one, 'both')))
  const exchangeBeside = async () => {
    const atOnce = await Promise.all(
      group.map((one) => Promise.all([many(one, 'send'), many(one, 'receive')])),
    )
    const paired = await Promise.all(
      group.map(({ channel, language }) => exchangeInPair(executor, channel, language)),
    )
    return { atOnce, paired }
  }
  // The receiver is the next run in the sender's slot.
  const exchangeInTurn = async () => {
    const found: Result[][] = []
    for (const one of group) found.push([await single(one, 'leave'), await single(one, 'receive')])
    return found
  }
  const [inTurn, { atOnce, paired }] = await Promise.all([exchangeInTurn(), exchangeBeside()])
  return group.map(({ channel }, index) => {
    const [control, consecutive, concurrent] = [controls[index]!, inTurn[index]!, atOnce[index]!]
    const { results, faults } = paired[index]!
    return {
      results: [control, ...consecutive, ...concurrent, ...results],
      faults: [
        ...judgeControl(channel, control),
        ...judgeExchange(channel, consecutive, 'one after the other'),
        ...judgeExchange(channel, concurrent, 'at once'),
        ...faults,
      ],
    }
  })
}
