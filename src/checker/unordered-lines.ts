// The checker `unordered_lines`: compares the lines as the checker `lines` does, but in any order; each must occur equally
// often.
import { differAt, same } from './judgement.ts'
import type { Judgement } from './judgement.ts'
import { checkLines, nextLine, trimmedLines } from './line.ts'
import type { LineCursor } from './line.ts'
import { collectLines } from './multiset.ts'

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
