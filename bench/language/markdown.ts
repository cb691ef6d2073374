// The table of bench/language/README.md: a line for each language, of the bench's rows.
import type { Row } from '../measure.ts'
import { digits } from '../table.ts'

const heads = ['language', 'first time', 'bare', 'ratio', 'again', 'bare', 'more']

/** Markdown, in the rows' order; a language without a compiler has no first time. */
export function formatMarkdown(rows: readonly Row[]): string {
  const names = [...new Set(rows.map(({ name }) => name.split(',')[0] ?? ''))]
  const find = (name: string): Row | undefined => rows.find((row) => row.name === name)
  const lines = names.map((name) => {
    const cold = find(`${name}, cold`)
    const again = find(`${name}, again`) ?? find(name)
    return [name, ...describe(cold, formatRatio), ...describe(again, formatDifference)]
  })
  const rule = heads.map((_, column) => (column === 0 ? '---' : '---:'))
  return [heads, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}

/** In the box, bare, and how the two compare. */
function describe(row: Row | undefined, compare: (row: Row) => string): string[] {
  if (row === undefined) return ['', '', '']
  return [digits(row.p50), digits(row.p50 - (row.overP50 ?? Number.NaN)), compare(row)]
}

function formatRatio({ ratio }: Row): string {
  return `×${(ratio ?? Number.NaN).toFixed(2)}`
}

function formatDifference({ overP50 }: Row): string {
  const more = overP50 ?? Number.NaN
  return `${more < 0 ? '−' : '+'}${digits(Math.abs(more))}`
}
