// Repeatable random numbers: one seed determines every random decision of the fault suite.

export interface Random {
  /** From 0 up to, but not including, 1. */
  number(): number
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number
  pick<T>(from: readonly T[]): T
  shuffle<T>(list: readonly T[]): T[]
}

/** The same seed gives the same sequence (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const number = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (least: number, most: number): number =>
    least + Math.floor(number() * (most - least + 1))
  return {
    number,
    between,
    pick(from) {
      const chosen = from[between(0, from.length - 1)]
      if (chosen === undefined) throw new Error('nothing to pick from')
      return chosen
    },
    shuffle(list) {
      const shuffled = [...list]
      for (let last = shuffled.length - 1; last > 0; last -= 1) {
        const other = between(0, last)
        ;[shuffled[last], shuffled[other]] = [shuffled[other]!, shuffled[last]!]
      }
      return shuffled
    },
  }
}
