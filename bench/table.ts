// Lays text out in columns for a terminal.

/**
 * A line of heads, a rule, a line each, an empty line.
 * @param textColumns those that are words, set to the left; the others are numbers, set to the right.
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

/** A number with three digits or so. */
export function digits(value: number): string {
  const size = Math.abs(value)
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0)
}
