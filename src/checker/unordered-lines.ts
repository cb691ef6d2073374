// The checker `unordered_lines`: the lines of `lines` in any order, each as often as it is expected.
import { differAt, same } from './judgement.ts'
import type { Judgement } from './judgement.ts'
import { nextLine, trimmedLines } from './line.ts'
import type { LineCursor } from './line.ts'
import { checkLines } from './lines.ts'
import { collectLines } from './multiset.ts'

/**
 * Ignores the order of lines, white space at their ends and empty lines at the end. The difference is a missing line, with
 * nothing got, or one too many, with nothing expected.
 */
export function checkUnorderedLines(output: Uint8Array, expected: Uint8Array): Judgement {
  // Most are in order, which takes no memory.
  if (checkLines(output, expected).same) return same
  const counts = { expected: countLines(expected), got: countLines(output) }
  const missing = findUnpaired(trimmedLines(expected), trimmedLines(output), counts.got)
  if (missing !== null) return differAt(missing, null)
  // Each that is expected has a partner: as many lines leave none over.
  if (counts.expected === counts.got) return same
  return differAt(null, findUnpaired(trimmedLines(output), trimmedLines(expected), counts.expected))
}

/** The first line that has no partner among the others, where each is the partner of one. */
function findUnpaired(lines: LineCursor, others: LineCursor, count: number): LineCursor | null {
  const unpaired = collectLines(others, count)
  while (nextLine(lines)) if (!unpaired.remove(lines)) return lines
  return null
}

function countLines(bytes: Uint8Array): number {
  const lines = trimmedLines(bytes)
  while (nextLine(lines));
  return lines.line
}
