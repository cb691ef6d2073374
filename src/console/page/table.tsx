// A table. On a narrow screen each row is a card, in which each figure has its name.
import type { ComponentChildren, JSX } from 'preact'

export interface Column<Row> {
  readonly head: string
  readonly draw: (row: Row) => ComponentChildren
  readonly isFigure?: boolean
  /** The class of the cell. */
  readonly mark?: (row: Row) => string
  readonly title?: (row: Row) => string
}

interface TableProps<Row> {
  /** The id of the heading that says what the table lists. */
  readonly heading: string
  /** The first one names the row. */
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  /** The text in place of a table without rows. */
  readonly empty?: ComponentChildren
  /** Needed where rows come and go while the table is shown. */
  keyOf?(row: Row): string
}

export function Table<Row>({
  heading,
  columns,
  rows,
  empty = 'None.',
  keyOf,
}: TableProps<Row>): JSX.Element {
  if (rows.length === 0) return <p class="empty">{empty}</p>
  const cells = (row: Row): JSX.Element[] =>
    columns.map(({ head, draw, isFigure, mark, title }, index) => {
      const given = {
        key: head,
        class: `${isFigure === true ? 'figure' : ''} ${mark?.(row) ?? ''}`.trim(),
        title: title?.(row),
        'data-head': head,
      }
      return index === 0 ? (
        <th scope="row" role="rowheader" {...given}>
          {draw(row)}
        </th>
      ) : (
        <td role="cell" {...given}>
          {draw(row)}
        </td>
      )
    })
  // Roles are explicit, because rows that are drawn as cards would lose their implicit ones.
  return (
    <div class="scroll" tabIndex={0} role="group" aria-labelledby={heading}>
      <table class="list" role="table">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ head, isFigure }) => (
              <th
                key={head}
                scope="col"
                role="columnheader"
                class={isFigure === true ? 'figure' : ''}
              >
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={keyOf?.(row)} role="row">
              {cells(row)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
