// Formats text in columns for a terminal.

/**
 * Formats a line of heads, a rule, and the lines.
 * @param textColumns the columns of words, which are left-aligned. The others are numbers and are right-aligned.
 */
export function formatTable(
  heads: readonly string[],
  lines: readonly (readonly string[])[],
  textColumns: readonly number[],
): string {
  const table = [heads, ...lines]
  const widths = heads.map((_, column) =>
    Math.max(...table.map((line) => line[column]?.length ?? 0)),
  )
  const text = table.map((line) =>
    line
      .map((cell, column) =>
        textColumns.includes(column)
          ? cell.padEnd(widths[column] ?? 0)
          : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  )
  text.splice(1, 0, '-'.repeat(Math.max(...text.map((line) => line.length))))
  return `${text.join('\n')}\n`
}

/** Formats a number with about three digits. */
export function digits(value: number): string {
  const size = Math.abs(value)
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0)
}
