// Computes the charts of the last hours without a browser. The charts are hand-drawn SVG: four lines of ninety points are 2 kB,
// take their colours from the page and can be read out. A chart library would be 20 kB and draw on a canvas.
import type { Series, SeriesPoint } from '#client'
import { formatAge } from './words.ts'

export interface Line {
  readonly name: string
  /** Null where there is no value: the line has a gap. */
  readonly values: readonly (number | null)[]
}

export interface Chart {
  readonly name: string
  readonly lines: readonly Line[]
  readonly format: (value: number) => string
}

const rate = (value: number): string => `${Number(value.toFixed(value < 10 ? 2 : 0))}/s`
const whole = (value: number): string => Math.round(value).toLocaleString('en')

export function describeCharts({ points }: Series): readonly Chart[] {
  const line = (name: string, pick: (point: SeriesPoint) => number | null): Line => ({
    name,
    values: points.map(pick),
  })
  // A step that has just started would show a high rate for a single event.
  const aSecond = (count: number, { seconds }: SeriesPoint): number | null =>
    seconds < 10 ? null : count / seconds
  return [
    {
      name: 'Arrivals and ends per second',
      format: rate,
      lines: [
        line('received', (point) => aSecond(point.received, point)),
        line('ended', (point) => aSecond(point.ended, point)),
      ],
    },
    {
      name: 'Wait p95',
      format: formatAge,
      lines: [line('waited', ({ waited_p95: waited }) => waited)],
    },
    {
      name: 'Submissions waiting',
      format: whole,
      lines: [line('waiting', ({ waiting }) => waiting)],
    },
    {
      name: 'Failures and refusals',
      format: whole,
      lines: [
        line('failed', ({ failed }) => failed),
        line('refused by this process', ({ refused }) => refused),
      ],
    },
  ]
}

/** Returns the least of 1, 2 and 5 times a power of ten that no value exceeds. */
export function findTop(lines: readonly Line[]): number {
  const most = Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)))
  if (most === 0) return 1
  const power = 10 ** Math.floor(Math.log10(most))
  return ([1, 2, 5].find((step) => step * power >= most) ?? 10) * power
}

/** Returns the `d` of an SVG path in a field of this size, with the origin at the top left. */
export function tracePath(
  { values }: Line,
  top: number,
  { width, height }: { readonly width: number; readonly height: number },
): string {
  const step = width / Math.max(1, values.length - 1)
  let isDrawing = false
  let path = ''
  for (const [n, value] of values.entries()) {
    if (value !== null) {
      // A point between two gaps must be visible too.
      const isAlone = !isDrawing && (values[n + 1] ?? null) === null
      const [x, y] = [round(n * step), round(height - (value / top) * height)]
      path += `${isDrawing ? 'L' : 'M'}${x} ${y}${isAlone ? 'h.01' : ''}`
    }
    isDrawing = value !== null
  }
  return path
}

const round = (figure: number): number => Math.round(figure * 10) / 10

/** Describes a chart in words, for users who cannot see it. */
export function readOut({ lines, format }: Chart, { points }: Series): string {
  return lines
    .map(({ name, values }) => {
      const known = values.flatMap((value, n) => (value === null ? [] : [{ value, n }]))
      const last = known.at(-1)
      if (last === undefined) return `${name}: nothing.`
      const most = known.reduce((a, b) => (b.value > a.value ? b : a))
      return `${name}: ${format(last.value)} of late, at most ${format(most.value)}, at ${formatClock(points[most.n]?.at ?? '')}.`
    })
    .join(' ')
}

/** Formats a time of day in the reader's time zone: `14:05`. */
export function formatClock(at: string): string {
  return new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
}
