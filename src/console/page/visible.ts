// Makes a program's output harmless to read: characters that are invisible, or that change how others are read, become visible
// escapes.

/** A piece of text. `isEscape`: the text is an escape of hidden characters. */
export interface Piece {
  readonly text: string
  readonly isEscape: boolean
}

// C0 without tab and newline, C1, invisible characters, changes of the writing direction, tags and private use.
const hidden =
  // eslint-disable-next-line no-control-regex -- these are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]+/gu

/** The most pieces, because more would take a browser seconds to draw. The rest is escaped without being marked. */
const piecesMost = 4000

/** Splits a text into pieces, in time linear in the text. */
export function showHidden(text: string): Piece[] {
  const pieces: Piece[] = []
  let end = 0
  for (const { 0: found, index } of text.matchAll(hidden)) {
    if (pieces.length >= piecesMost) break
    if (index > end) pieces.push({ text: text.slice(end, index), isEscape: false })
    pieces.push({ text: escapeAll(found), isEscape: true })
    end = index + found.length
  }
  if (end < text.length) pieces.push({ text: escapeHidden(text.slice(end)), isEscape: false })
  return pieces
}

/** Returns the same as one text, for places that take no markup. */
export function escapeHidden(text: string): string {
  return text.replaceAll(hidden, escapeAll)
}

function escapeAll(found: string): string {
  // A fast path: most hidden characters are alone, and there may be half a million.
  return found.length === 1 ? escape(found) : Array.from(found, escape).join('')
}

/** Caches escapes, because a hostile output may hold the same character a million times. */
const escapes = new Map<string, string>()

function escape(character: string): string {
  let written = escapes.get(character)
  if (written === undefined) escapes.set(character, (written = write(character)))
  return written
}

function write(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code === 0x0d) return '\\r'
  const hex = code.toString(16)
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`
}

/** Returns at most the first `most` characters, and never half of a surrogate pair. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const last = text.charCodeAt(most - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most)
}
