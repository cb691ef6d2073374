// The bytes with a meaning for checkers. All other bytes are content, whatever they encode.

export const newline = 0x0a

/** True for space, tab, vertical tab, form feed and carriage return: the white space within a line. */
export function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0b || byte === 0x0c || byte === 0x0d
}

/** Returns whether two ranges hold the same bytes. The ends are exclusive. */
export function areSame(
  left: Uint8Array,
  leftStart: number,
  leftEnd: number,
  right: Uint8Array,
  rightStart: number,
  rightEnd: number,
): boolean {
  const length = leftEnd - leftStart
  if (length !== rightEnd - rightStart) return false
  for (let index = 0; index < length; index += 1) {
    if (left[leftStart + index] !== right[rightStart + index]) return false
  }
  return true
}
