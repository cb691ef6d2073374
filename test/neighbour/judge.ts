// Distinguishes what an attack did to its neighbours from what the machine did. A loss always counts. Late verdicts and long
// waits may come from the machine. Such an attack is repeated between two harmless programs that fill the same slot; it
// counts if the neighbours did well beside these and not beside the attack. If they did not even do well beside the harmless
// programs, nothing is judged.
import { quantile } from '../hostile/neighbour.ts'
import { attack, program } from './attack.ts'
import type { NeighbourAttack } from './attack.ts'
import type { Struck } from './strike.ts'

/** Everything that is wrong with an attack. */
export interface Judgement {
  /** Faults that no busy machine can excuse. */
  readonly faults: readonly string[]
  /** Late verdicts and long waits that the attack has caused. */
  readonly delays: readonly string[]
  /** The observations in order. */
  readonly remarks: readonly string[]
  /** False when the machine was too busy to judge delays. */
  readonly isJudged: boolean
}

/** A program that uses a slot, and a core where allowed, as any program may. */
export const harmless = attack('a harmless program', [program('python', 'while True: pass')])

/** Allowed waits as multiples of the waits beside a harmless program. */
const canaryFactor = 20
const victimFactor = 5
const worstFactor = 3
/** Shorter waits are not judged. */
const leastMilliseconds = 1500
/** The longest waits beside a harmless program, in milliseconds; beyond them the machine is too busy. */
const calm = { canary: 500, victim: 1000 }
const roundsMost = 3
/** The most seconds of all repetitions together; after them nothing is repeated or judged. */
const repeatSecondsMost = 150
let repeatedSeconds = 0

const show = (times: readonly number[]): string =>
  `${times.length} of ${[0.5, 0.99, 1].map((part) => quantile(times, part).toFixed(0)).join(' / ')} ms`

/** Returns a line of figures: p50, p99 and the maximum. */
export const describe = ({ canary, victim, ended }: Struck): string =>
  `canary ${show(canary)}, victim ${show(victim)}; the attacker: ${ended}`

const isCalm = ({ doubts, canary, victim }: Struck): boolean =>
  doubts.length === 0 &&
  quantile(canary, 0.99) <= calm.canary &&
  quantile(victim, 0.5) <= calm.victim

/**
 * Returns the waits that are too long, and the late verdicts.
 * @param beside the strike with harmless programs.
 */
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
 * Runs an attack, as often as it takes to judge it.
 * @param strike runs it once.
 * @param beside an earlier strike with a harmless program.
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
    // A delay that does not recur was not caused by the attack.
    if (again.length === 0 || isCalm(await repeat(harmless))) found = again
  }
  repeatedSeconds += (performance.now() - startedAt) / 1000
  return { faults, delays: found ?? [], remarks, isJudged: found !== null }
}
