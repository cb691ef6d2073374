// Finds the language that a misspelt name probably means.
import { languagesByName } from './catalogue.ts'

const namesMost = 32

/**
 * Returns the name or alias with the fewest differing letters; undefined when all differ in more than a third of the letters.
 */
export function findNearestLanguage(word: string): string | undefined {
  if (word.length > namesMost) return undefined
  const folded = word.trim().toLowerCase()
  let nearest: string | undefined
  let fewest = Math.max(1, Math.floor(folded.length / 3)) + 1
  for (const name of Object.keys(languagesByName)) {
    const letters = countEdits(folded, name)
    if (letters < fewest && letters < name.length) [nearest, fewest] = [name, letters]
  }
  return nearest
}

/** Counts the letters to insert, remove or replace; two swapped neighbours count as one. */
function countEdits(one: string, other: string): number {
  let before: readonly number[] = []
  let row: readonly number[] = Array.from({ length: other.length + 1 }, (_, n) => n)
  const at = (counts: readonly number[], place: number): number => counts[place] ?? Infinity
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = one[i - 1] === other[j - 1]
      const isSwapped = i > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      next.push(
        Math.min(
          at(row, j) + 1,
          at(next, j - 1) + 1,
          at(row, j - 1) + (isSame ? 0 : 1),
          isSwapped ? at(before, j - 2) + 1 : Infinity,
        ),
      )
    }
    before = row
    row = next
  }
  return at(row, other.length)
}
