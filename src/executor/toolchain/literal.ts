// Finds the end of a string or character of Java. Visits each character once: sources are untrusted, and
// reading them holds up every slot of the worker.

/**
 * The index behind the literal whose quotation mark is at `start`. Without an end, that of its line, or of the text
 * after three marks: such a source is no program.
 */
export function endOfLiteral(text: string, start: number): number {
  const mark = text.charAt(start)
  const block = mark.repeat(3)
  const close = text.startsWith(block, start) ? block : mark
  for (let at = start + close.length; at < text.length; at += 1) {
    const character = text[at]
    if (character === '\\') at += 1
    else if (character === mark && text.startsWith(close, at)) return at + close.length
    else if (close === mark && (character === '\n' || character === '\r')) return at
  }
  return text.length
}
