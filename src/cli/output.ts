// Prints tables at a terminal, JSON lines for programs. Strangers' text must not steer the terminal.
import type { Terminal } from './command.ts'
import { flag } from './option.ts'

/** Of each command that prints a list. */
export const jsonOption = flag('JSON lines on a terminal too')

export type Row = Readonly<Record<string, unknown>>

/** A value in JSON, a line. JSON itself leaves some characters as they are that steer terminals. */
export function printJson(value: unknown, { stdout }: Pick<Terminal, 'stdout'>): void {
  const text = JSON.stringify(value).replace(
    /[\u007f-\u009f]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  )
  stdout.write(`${text}\n`)
}

/** Fields have the API's style: `expires_at`. */
function nameFields(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  )
}

/** A table on a terminal; else, or with `json`, JSON lines. */
export function printRows(given: readonly object[], terminal: Terminal, json = false): void {
  const { stdout } = terminal
  const rows = given.map((row) => nameFields({ ...row }))
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
  const cells = rows.map((row) => names.map((name) => formatCell(row[name])))
  for (const line of alignColumns([names.map((name) => name.toUpperCase()), ...cells]))
    stdout.write(`${line}\n`)
}

/** A line a row, its cells below those of the rows before. */
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

/** A line per field on a terminal, else JSON. */
export function printRecord(given: object, terminal: Terminal): void {
  const { stdout } = terminal
  const record = nameFields({ ...given })
  if (stdout.isTTY !== true) {
    printJson(record, terminal)
    return
  }
  const rows = Object.entries(record).map(([name, value]) => [name, formatCell(value)])
  for (const line of alignColumns(rows)) stdout.write(`${line}\n`)
}

/** Overwrites its line on a terminal, else a line each. */
export function printProgress(line: string, { stderr }: Terminal): void {
  stderr.write(stderr.isTTY === true ? `\r\u001B[K${line}` : `${line}\n`)
}

/** One line, as escapeControls leaves it. */
export function makeVisible(value: unknown): string {
  return escapeControls(JSON.stringify(value ?? '').replace(/^"(.*)"$/, '$1'))
}

/** Characters that could steer a terminal become their numbers. */
export function escapeControls(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}

/** Keeps lines; other control characters are replaced. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd')
}

/** As it is, but to a terminal. */
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
