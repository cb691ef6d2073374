// Splits command lines, which some protocols have in place of a list of arguments.

/**
 * Splits a command line into words by a shell's rules for quotes and backslashes. Nothing is expanded.
 * @returns undefined when a quote is not closed.
 */
export function splitWords(line: string): string[] | undefined {
  const found: string[] = []
  let word: string | undefined
  let quote = ''
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at)
    const next = line.charAt(at + 1)
    if (character === quote) quote = ''
    else if (quote === '' && /["']/.test(character)) {
      quote = character
      word ??= ''
    } else if (character === '\\' && quote !== "'" && (quote === '' || /["\\]/.test(next))) {
      word = (word ?? '') + next
      at += 1
    } else if (quote === '' && /\s/.test(character)) {
      if (word !== undefined) found.push(word)
      word = undefined
    } else word = (word ?? '') + character
  }
  if (quote !== '') return undefined
  return word === undefined ? found : [...found, word]
}
