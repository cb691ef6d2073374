// Charts of the last hours: a line for each figure whose course the overview does not show.
import type { Series } from '#client'
import type { JSX, TargetedPointerEvent } from 'preact'
import { useId, useState } from 'preact/hooks'
import { useFollowed } from '../work.ts'
import { describeCharts, findTop, formatClock, readOut, tracePath } from './series.ts'
import type { Chart } from './series.ts'
import { followSeries } from './service.ts'
import { formatAge } from './words.ts'

const field = { width: 300, height: 70 } as const

export function Charts(): JSX.Element | null {
  const id = useId()
  const { value: series } = useFollowed(followSeries, [])
  const [at, setAt] = useState<number | null>(null)
  if (series === null) return null
  const { points, share, step_seconds: step } = series
  const reach = formatAge(points.length * step)
  return (
    <section id="hours" aria-labelledby={id}>
      <h2 id={id}>
        Last {reach} <small>{describeStep(step, share)}</small>
      </h2>
      <div class="charts">
        {describeCharts(series).map((chart) => (
          <Drawn key={chart.name} of={chart} series={series} at={at} onPoint={setAt} />
        ))}
      </div>
    </section>
  )
}

function describeStep(step: number, share: number): string {
  const each = `a point for each ${formatAge(step)}`
  return share < 1 ? `${each}, estimated from ${Math.max(1, Math.round(share * 100))} % of the time` : each // prettier-ignore
}

function Drawn({
  of: chart,
  series,
  at,
  onPoint,
}: {
  readonly of: Chart
  readonly series: Series
  /** The index of the point under the pointer. */
  readonly at: number | null
  onPoint(at: number | null): void
}): JSX.Element {
  const { name, lines, format } = chart
  const { points } = series
  const top = findTop(lines)
  const last = points.length - 1
  const shown = at ?? last
  const point = ({ clientX, currentTarget }: TargetedPointerEvent<SVGSVGElement>): void => {
    const { left, width } = currentTarget.getBoundingClientRect()
    const share = width > 0 ? (clientX - left) / width : 0
    onPoint(Math.min(last, Math.max(0, Math.round(share * last))))
  }
  const x = (shown / Math.max(1, last)) * field.width
  return (
    <figure class="chart">
      <figcaption>
        <strong>{name}</strong>
        {lines.map((line, n) => (
          <span key={line.name} class={`line-${n}`}>
            {line.name} {formatValue(line.values[shown] ?? null, format)}
          </span>
        ))}
      </figcaption>
      <p class="axis" aria-hidden="true">
        <span>{format(top)}</span>
        <span>{format(top / 2) === format(top) ? '' : format(top / 2)}</span>
        <span>0</span>
      </p>
      <svg
        viewBox={`0 0 ${field.width} ${field.height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={readOut(chart, series)}
        onPointerMove={point}
        onPointerLeave={() => onPoint(null)}
      >
        {lines.map((line, n) => (
          <path key={line.name} class={`line-${n}`} d={tracePath(line, top, field)} />
        ))}
        <path class="grid" d={`M0 ${field.height / 2}H${field.width}`} />
        {at !== null && <path class="at" d={`M${x} 0V${field.height}`} />}
      </svg>
      <p class="scale" aria-hidden="true">
        <span>{formatClock(points[0]?.at ?? '')}</span>
        <span>{formatClock(points[at ?? Math.floor(last / 2)]?.at ?? '')}</span>
        <span>{formatClock(series.at)}</span>
      </p>
    </figure>
  )
}

const formatValue = (value: number | null, format: Chart['format']): string =>
  value === null ? '–' : format(value)
