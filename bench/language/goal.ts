// What a box may cost a language, and which languages it costs more.
import type { Row } from '../measure.ts'
import { digits } from '../table.ts'

/** One kind of row and its bound. */
export interface LanguageGoal {
  readonly what: string
  readonly isOf: (row: Row) => boolean
  readonly measured: (row: Row) => number
  readonly most: number
  readonly unit: 'ms' | 'x'
}

const isCold = ({ name }: Row): boolean => name.endsWith(', cold')
const isAgain = ({ name }: Row): boolean => name.endsWith(', again')
const over = ({ overP50 }: Row): number => overP50 ?? Number.NaN

export const goals: readonly LanguageGoal[] = [
  {
    what: 'interpreted',
    isOf: (row) => !isCold(row) && !isAgain(row),
    measured: over,
    most: 1,
    unit: 'ms',
  },
  { what: 'compiled, again', isOf: isAgain, measured: over, most: 1, unit: 'ms' },
  {
    what: 'compiled, cold',
    isOf: isCold,
    measured: ({ ratio }) => ratio ?? Number.NaN,
    most: 1.05,
    unit: 'x',
  },
]

/** A line and two figures for each goal. */
export function formatGoals(
  rows: readonly Row[],
  wanted: readonly LanguageGoal[],
): { readonly notes: string[]; readonly figures: Record<string, number> } {
  const notes: string[] = []
  const figures: Record<string, number> = {}
  for (const { what, isOf, measured, most, unit } of wanted) {
    const own = rows.filter(isOf)
    const beyond = own.filter((row) => !(measured(row) <= most))
    const show = (value: number): string =>
      unit === 'ms' ? `${value < 0 ? '' : '+'}${digits(value)} ms` : `x${value.toFixed(2)}`
    const names = beyond.map((row) => `${row.name.split(',')[0]} ${show(measured(row))}`)
    const list = names.length === 0 ? '' : `; not ${names.join(', ')}`
    notes.push(
      `${what}: ${own.length - beyond.length} of ${own.length} within ${show(most)}${list}`,
    )
    figures[`${what}: languages`] = own.length
    figures[`${what}: within`] = own.length - beyond.length
  }
  return { notes, figures }
}
