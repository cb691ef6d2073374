// What commands print: tables for people at a terminal, JSON lines for programs. And the two ways to show what strangers
// wrote without letting it steer a terminal.
import type { Terminal } from './command.ts'

/** Something that a list has a line for. */
export type Row = Readonly<Record<string, unknown>>

/** Prints a list: a table on a terminal, else, or when asked for, a JSON object a line. */
export function printRows(rows: readonly Row[], { stdout }: Terminal, json = false): void {
  if (stdout.isTTY !== true || json) {
    for (const row of rows) stdout.write(`${JSON.stringify(row)}\n`)
    return
  }
  const [first] = rows
  if (first === undefined) {
    stdout.write('none\n')
    return
  }
  const names = Object.keys(first)
  const cells = rows.map((row) => names.map((name) => formatCell(row[name])))
  const widths = names.map((name, column) =>
    Math.max(name.length, ...cells.map((row) => row[column]?.length ?? 0)),
  )
  for (const row of [names.map((name) => name.toUpperCase()), ...cells]) {
    const line = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
    stdout.write(`${line.trimEnd()}\n`)
  }
}

/** Prints one thing: a line for each of its fields on a terminal, else JSON. */
export function printRecord(record: Row, { stdout }: Terminal): void {
  if (stdout.isTTY !== true) {
    stdout.write(`${JSON.stringify(record)}\n`)
    return
  }
  const width = Math.max(...Object.keys(record).map((name) => name.length))
  for (const [name, value] of Object.entries(record))
    stdout.write(`${name.padEnd(width)}  ${formatCell(value)}\n`)
}

/** Tells how far something is: over the line before on a terminal, else a line each. */
export function printProgress(line: string, { stderr }: Terminal): void {
  stderr.write(stderr.isTTY === true ? `\r\u001B[K${line}` : `${line}\n`)
}

/** Text on one line, with each character that could steer a terminal told by its number. */
export function makeVisible(value: unknown): string {
  const quoted = JSON.stringify(value ?? '').replace(/^"(.*)"$/, '$1')
  return quoted.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}

/** A program's output, lines and all, with what could steer a terminal replaced. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd')
}

function formatCell(value: unknown): string {
  if (value === null || value === undefined) return '–'
  if (value instanceof Date) return `${value.toISOString().slice(0, 19)}Z`
  return makeVisible(value)
}
