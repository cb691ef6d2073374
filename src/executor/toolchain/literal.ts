// Where a string or a character of Python or Java ends: what both languages' readers skip. Going over each character once
// is the point of this file: a source is a stranger's, and its reader holds up every slot of the worker.

/**
 * The index behind the literal that begins with the quotation mark at `start`. One without an end goes to the end of its
 * line, or of all if three marks begin it: such a source is no program.
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
