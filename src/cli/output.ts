// Prints tables on a terminal, and JSON lines for programs. Strangers' text must not control the terminal.
import { flag } from './command.ts'
import type { Terminal } from './command.ts'

/** The option `--json` of every command that prints a list. */
export const jsonOption = flag('JSON lines on a terminal too')

export type Row = Readonly<Record<string, unknown>>

/** Prints a value as a line of JSON. Escapes the control characters that JSON.stringify leaves as they are. */
export function printJson(value: unknown, { stdout }: Pick<Terminal, 'stdout'>): void {
  const text = JSON.stringify(value).replace(
    /[\u007f-\u009f]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  )
  stdout.write(`${text}\n`)
}

/** Prints a table on a terminal; JSON lines elsewhere or with `json`. */
export function printRows(rows: readonly object[], terminal: Terminal, json = false): void {
  const { stdout } = terminal
  if (stdout.isTTY !== true || json) {
    for (const row of rows) printJson(row, terminal)
    return
  }
  const [first] = rows
  if (first === undefined) {
    stdout.write('none\n')
    return
  }
  const names = Object.keys(first)
  const cells = rows.map((row) => names.map((name) => formatCell((row as Row)[name])))
  for (const line of alignColumns([names.map((name) => name.toUpperCase()), ...cells]))
    stdout.write(`${line}\n`)
}

/** Returns a line for each row, with aligned columns. */
export function alignColumns(rows: readonly (readonly string[])[], gap = '  '): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(gap)
      .trimEnd(),
  )
}

/** Prints a line for each field on a terminal, JSON elsewhere. */
export function printRecord(given: object, terminal: Terminal): void {
  const { stdout } = terminal
  if (stdout.isTTY !== true) {
    printJson(given, terminal)
    return
  }
  const rows = Object.entries(given).map(([name, value]) => [name, formatCell(value)])
  for (const line of alignColumns(rows)) stdout.write(`${line}\n`)
}

const progressMilliseconds = 5000

/**
 * Returns a function that prints progress: on a terminal it overwrites one line, which an empty text removes; in a script's log
 * it prints a line every five seconds at most.
 */
export function createProgress({ stderr }: Pick<Terminal, 'stderr'>): (line: string) => void {
  let printedAt = Number.NEGATIVE_INFINITY
  return (line) => {
    if (stderr.isTTY === true) stderr.write(`\r\u001B[K${line}`)
    else if (line !== '' && performance.now() - printedAt >= progressMilliseconds) {
      stderr.write(`${line}\n`)
      printedAt = performance.now()
    }
  }
}

/** Returns a value as one line without control characters. */
export function makeVisible(value: unknown): string {
  return escapeControls(JSON.stringify(value ?? '').replace(/^"(.*)"$/, '$1'))
}

/** Replaces characters that could control a terminal by their code points. */
export function escapeControls(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}

/** Replaces control characters except line ends and tabs. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd')
}

/** Returns the text for a stream: `printable` for a terminal, unchanged for anything else. */
export function show(text: string, { isTTY }: { readonly isTTY?: boolean }): string {
  return isTTY === true ? printable(text) : text
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

function formatCell(value: unknown): string {
  if (value === null || value === undefined) return '–'
  const time = value instanceof Date ? value.toISOString() : value
  if (typeof time === 'string' && isoTime.test(time)) return `${time.slice(0, 19)}Z`
  return makeVisible(value)
}
