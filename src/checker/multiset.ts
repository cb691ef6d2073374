// Counts the lines of an output: a hash table over their places in its bytes, since a string for each of sixteen million
// lines would take gigabytes.
//
// Whose lines they are chooses them to meet in one chain, if he can. So the hash is a polynomial of a line's bytes over a
// prime field, at a random point: two lines of n bytes have the same one for at most n points of 67 million, whatever they
// are, and a second random factor spreads the hashes over the chains.
import { randomInt } from 'node:crypto'
import type { Line } from './judgement.ts'
import { areSameLines, nextLine } from './line.ts'
import type { LineCursor } from './line.ts'

/** The greatest prime below 2 ** 26: a product of two residues, and a byte more, is exact in a double. */
const prime = 2 ** 26 - 5
/** 16 MiB hold about as many different lines. */
const mostChains = 2 ** 22
const leastChains = 2 ** 4

// An entry's words: where its line begins and ends, how often it is there, and the next entry of its chain.
const [startWord, endWord, countWord, nextWord] = [0, 1, 2, 3] as const
const entryWords = 4

/** The lines of one output and how often each is there. */
interface LineMultiset {
  /** Takes one such line out; false when there is none left. */
  remove(line: Line): boolean
}

/** All lines that a cursor has before it. @param lineCount how many they are, after which the table is sized. */
export function collectLines(lines: LineCursor, lineCount: number): LineMultiset {
  const chains = chainsFor(lineCount)
  const mask = chains - 1
  const point = randomInt(1, prime)
  const spread = randomInt(1, prime)
  // 0 is no entry: the first place stays empty.
  const heads = new Uint32Array(chains)
  let entries = new Uint32Array(leastChains * entryWords)
  let used = entryWords

  const chainOf = ({ bytes, start, end }: Line): number => {
    let hash = 1
    for (let at = start; at < end; at += 1) hash = remainder(hash * point + (bytes[at] ?? 0))
    return remainder(hash * spread) & mask
  }

  const stored = { bytes: lines.bytes, line: 0, start: 0, end: 0 }
  const find = (line: Line, chain: number): number => {
    let entry = heads[chain] ?? 0
    while (entry !== 0) {
      stored.start = entries[entry + startWord] ?? 0
      stored.end = entries[entry + endWord] ?? 0
      if (areSameLines(stored, line)) return entry
      entry = entries[entry + nextWord] ?? 0
    }
    return 0
  }

  const add = (line: Line, chain: number): number => {
    if (used === entries.length) {
      const grown = new Uint32Array(entries.length * 2)
      grown.set(entries)
      entries = grown
    }
    const entry = used
    used += entryWords
    entries[entry + startWord] = line.start
    entries[entry + endWord] = line.end
    entries[entry + nextWord] = heads[chain] ?? 0
    heads[chain] = entry
    return entry
  }

  while (nextLine(lines)) {
    const chain = chainOf(lines)
    const entry = find(lines, chain) || add(lines, chain)
    entries[entry + countWord] = (entries[entry + countWord] ?? 0) + 1
  }

  return {
    remove(line) {
      const entry = find(line, chainOf(line))
      const count = entries[entry + countWord] ?? 0
      if (entry === 0 || count === 0) return false
      entries[entry + countWord] = count - 1
      return true
    },
  }
}

/** Exact: the nearest double of the quotient is never the next whole number. */
function remainder(value: number): number {
  return value - Math.floor(value / prime) * prime
}

/** A power of two. */
function chainsFor(lineCount: number): number {
  return Math.min(mostChains, Math.max(leastChains, 2 ** Math.ceil(Math.log2(lineCount + 1))))
}
