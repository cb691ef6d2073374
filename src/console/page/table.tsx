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

/** @param columns the first one names the row. @param label says what the table lists, or is the id of its heading. */
export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
}: {
  readonly label: { readonly 'aria-label': string } | { readonly 'aria-labelledby': string }
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  keyOf(row: Row): string
}): JSX.Element {
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
    <div class="scroll" tabIndex={0} role="group" {...label}>
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
            <tr key={keyOf(row)} role="row">
              {cells(row)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
