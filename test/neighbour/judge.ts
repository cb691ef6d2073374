// What an attack did to its neighbours, told from what the machine did. Losses are losses at once. Late verdicts and long waits
// may be the machine's: such an attack is made again between two harmless programs that fill the same slot, and counts if the
// neighbours were well beside these and not beside it. Where they are not even well beside these, nothing is judged.
import { quantile } from '../hostile/neighbour.ts'
import { attack, program } from './attack.ts'
import type { NeighbourAttack } from './attack.ts'
import type { Struck } from './strike.ts'

/** Of an attack, all that is wrong. */
export interface Judgement {
  /** What nothing excuses. */
  readonly faults: readonly string[]
  /** Late verdicts and long waits that the attack is to blame for. */
  readonly delays: readonly string[]
  /** What was seen, in order. */
  readonly remarks: readonly string[]
  /** False: the machine was not calm enough to say anything of delays. */
  readonly isJudged: boolean
}

/** A program that takes a slot, and a core where it may, as any may do. */
export const harmless = attack('a harmless program', [program('python', 'while True: pass')])

/** As multiples of what it is beside a harmless program. */
const canaryFactor = 20
const victimFactor = 5
const worstFactor = 3
/** Shorter than this no wait is judged. */
const leastMilliseconds = 1500
/** Beside a harmless program the neighbours wait no longer, or the machine has too much else to do. */
const calm = { canary: 500, victim: 1000 }
const roundsMost = 3
/** All repetitions together; then nothing is repeated, nor judged. */
const repeatSecondsMost = 150
let repeatedSeconds = 0

const show = (times: readonly number[]): string =>
  `${times.length} of ${[0.5, 0.99, 1].map((part) => quantile(times, part).toFixed(0)).join(' / ')} ms`

/** A line of figures: p50, p99 and the most. */
export const describe = ({ canary, victim, ended }: Struck): string =>
  `canary ${show(canary)}, victim ${show(victim)}; the attacker: ${ended}`

const isCalm = ({ doubts, canary, victim }: Struck): boolean =>
  doubts.length === 0 &&
  quantile(canary, 0.99) <= calm.canary &&
  quantile(victim, 0.5) <= calm.victim

/** Which waits are longer than they may be, and what else is late. @param beside harmless programs. */
function findDelays(struck: Struck, { holdsSeconds }: NeighbourAttack, beside: Struck): string[] {
  const bound = (factor: number, times: readonly number[]): number =>
    holdsSeconds * 1000 +
    Math.max(leastMilliseconds, factor * quantile(times, 0.5), worstFactor * quantile(times, 0.99))
  const waits = [
    {
      name: "the canary's p99",
      was: quantile(struck.canary, 0.99),
      bound: bound(canaryFactor, beside.canary),
    },
    {
      name: "the victim's p50",
      was: quantile(struck.victim, 0.5),
      bound: bound(victimFactor, beside.victim),
    },
  ]
  const long = waits
    .filter((wait) => wait.was > wait.bound)
    .map(
      (wait) => `${wait.name} was ${wait.was.toFixed(0)} ms, ${wait.bound.toFixed(0)} are allowed`,
    )
  return [...struck.doubts, ...long]
}

/**
 * Makes an attack, as often as it takes to judge it.
 * @param strike makes one.
 * @param beside what the neighbours had beside a harmless program before.
 */
export async function judge(
  one: NeighbourAttack,
  strike: (attack: NeighbourAttack) => Promise<Struck>,
  beside: Struck,
): Promise<Judgement> {
  const struck = await strike(one)
  const faults = [...struck.faults]
  const remarks = [describe(struck)]
  const delays = findDelays(struck, one, beside)
  if (delays.length === 0) return { faults, delays, remarks, isJudged: true }
  remarks.push(`doubtful: ${delays.join('; ')}`)
  const startedAt = performance.now()
  const isTimeLeft = (): boolean =>
    repeatedSeconds + (performance.now() - startedAt) / 1000 < repeatSecondsMost
  const repeat = async (which: NeighbourAttack): Promise<Struck> => {
    const again = await strike(which)
    faults.push(...again.faults)
    remarks.push(`${which === one ? 'again' : 'beside a harmless program'}: ${describe(again)}`)
    return again
  }
  let found: string[] | null = null
  for (let round = 0; found === null && round < roundsMost && isTimeLeft(); round += 1) {
    const before = await repeat(harmless)
    if (!isCalm(before)) continue
    const again = findDelays(await repeat(one), one, before)
    // What it did once and not again was not it.
    if (again.length === 0 || isCalm(await repeat(harmless))) found = again
  }
  repeatedSeconds += (performance.now() - startedAt) / 1000
  return { faults, delays: found ?? [], remarks, isJudged: found !== null }
}
