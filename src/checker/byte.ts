// The bytes with a meaning for checkers, and ranges of bytes. All other bytes are content, whatever they encode.

export const newline = 0x0a

/** True for space, tab, vertical tab, form feed and carriage return: the white space within a line. */
export function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0b || byte === 0x0c || byte === 0x0d
}

/** The bytes from `start` to `end`, exclusive: a line or a token of an output. */
export interface Range {
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
}

/** Returns whether two ranges hold the same bytes. */
export function areSame(left: Range, right: Range): boolean {
  const { bytes: leftBytes, start: leftStart } = left
  const { bytes: rightBytes, start: rightStart } = right
  const length = left.end - leftStart
  if (length !== right.end - rightStart) return false
  for (let index = 0; index < length; index += 1) {
    if (leftBytes[leftStart + index] !== rightBytes[rightStart + index]) return false
  }
  return true
}
