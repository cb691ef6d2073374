// The checker `unordered_lines`: compares the lines as the checker `lines` does, but in any order; each must occur equally
// often.
//
// It counts lines in a hash table over positions in the output's bytes, because a string for each of sixteen million lines
// would take gigabytes. The author of the lines may choose them so that they collide in one chain. So the hash is a polynomial
// of a line's bytes over a prime field, at a random point: two different lines of n bytes collide for at most n points of 67
// million. A second random factor spreads the hashes over the chains.
import { randomInt } from 'node:crypto'
import { areSame, checkLines, differAt, nextLine, same, trimmedLines } from './line.ts'
import type { Judgement, LineCursor, Range } from './line.ts'

/** The greatest prime below 2 ** 26, so that a product of two residues plus a byte is exact in a double. */
const prime = 2 ** 26 - 5
/** 16 MiB hold about this many different lines. */
const mostChains = 2 ** 22
const leastChains = 2 ** 4

// The words of an entry: start and end of its line, the line's count, and the next entry of its chain.
const [startWord, endWord, countWord, nextWord] = [0, 1, 2, 3] as const
const entryWords = 4

/**
 * Compares lines in any order, without white space at their ends and without empty lines at the end. The difference is either a
 * missing line, with `got` null, or a surplus line, with `expected` null.
 */
export function checkUnorderedLines(output: Uint8Array, expected: Uint8Array): Judgement {
  // Most outputs are in order, and this comparison takes no memory.
  if (checkLines(output, expected).same) return same
  const counts = { expected: countLines(expected), got: countLines(output) }
  const missing = findUnpaired(trimmedLines(expected), trimmedLines(output), counts.got)
  if (missing !== null) return differAt(missing, null)
  // Every expected line has a partner, so with equal counts there is no surplus line.
  if (counts.expected === counts.got) return same
  return differAt(null, findUnpaired(trimmedLines(output), trimmedLines(expected), counts.expected))
}

/** Returns the first line without a partner among the others; each of the others is the partner of at most one line. */
function findUnpaired(lines: LineCursor, others: LineCursor, count: number): LineCursor | null {
  const removeEqual = collectLines(others, count)
  while (nextLine(lines)) if (!removeEqual(lines)) return lines
  return null
}

function countLines(bytes: Uint8Array): number {
  const lines = trimmedLines(bytes)
  while (nextLine(lines));
  return lines.line
}

/**
 * Collects all lines that follow a cursor, with their counts.
 * @param lineCount their number, which decides the table's size.
 * @returns a function that removes one equal line; false when none is left.
 */
function collectLines(lines: LineCursor, lineCount: number): (line: Range) => boolean {
  const chains = chainsFor(lineCount)
  const mask = chains - 1
  const point = randomInt(1, prime)
  const spread = randomInt(1, prime)
  // 0 means no entry, so the first entry's words stay unused.
  const heads = new Uint32Array(chains)
  let entries = new Uint32Array(leastChains * entryWords)
  let used = entryWords

  const chainOf = ({ bytes, start, end }: Range): number => {
    let hash = 1
    for (let at = start; at < end; at += 1) hash = remainder(hash * point + (bytes[at] ?? 0))
    return remainder(hash * spread) & mask
  }

  const stored = { bytes: lines.bytes, start: 0, end: 0 }
  const find = (line: Range, chain: number): number => {
    let entry = heads[chain] ?? 0
    while (entry !== 0) {
      stored.start = entries[entry + startWord] ?? 0
      stored.end = entries[entry + endWord] ?? 0
      if (areSame(stored, line)) return entry
      entry = entries[entry + nextWord] ?? 0
    }
    return 0
  }

  const add = (line: Range, chain: number): number => {
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

  return (line) => {
    const entry = find(line, chainOf(line))
    const count = entries[entry + countWord] ?? 0
    if (entry === 0 || count === 0) return false
    entries[entry + countWord] = count - 1
    return true
  }
}

/** Returns the exact remainder: rounding to a double never raises the quotient to the next whole number. */
function remainder(value: number): number {
  return value - Math.floor(value / prime) * prime
}

/** Returns the number of chains, a power of two. */
function chainsFor(lineCount: number): number {
  return Math.min(mostChains, Math.max(leastChains, 2 ** Math.ceil(Math.log2(lineCount + 1))))
}
