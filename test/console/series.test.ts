// The logic of the operators' charts that needs no browser.
import t from 'tap'
import type { Series, SeriesPoint } from '#client'
import {
  describeCharts,
  findTop,
  readOut,
  tracePath,
} from '../../src/console/page/operator/series.ts'

const point = (minute: number, part: Partial<SeriesPoint> = {}): SeriesPoint => ({
  at: new Date(2030, 0, 1, 14, minute).toISOString(),
  seconds: 120,
  received: 0,
  ended: 0,
  failed: 0,
  waiting: 0,
  waited_p95: null,
  refused: 0,
  ...part,
})
const series: Series = {
  at: new Date(2030, 0, 1, 14, 6, 5).toISOString(),
  step_seconds: 120,
  share: 1,
  points: [
    point(0, { received: 240, ended: 120, waited_p95: 2 }),
    point(2, { waiting: 3, failed: 1, refused: 40 }),
    point(4, { received: 60, ended: 60, waiting: 1200, waited_p95: 0.5 }),
    point(6, { seconds: 5, received: 1 }),
  ],
}

t.test('a line is traced from edge to edge, with gaps where there is nothing', async (t) => {
  const field = { width: 300, height: 100 }
  const trace = (values: readonly (number | null)[]) => tracePath({ name: '', values }, 10, field)
  t.equal(trace([0, 5, 10]), 'M0 100L150 50L300 0')
  t.equal(trace([0, null, 10, 10]), 'M0 100h.01M200 0L300 0')
  t.equal(trace([null, null]), '')
  t.equal(trace([10]), 'M0 0h.01')
  t.equal(trace([]), '')
})

t.test('the top of a chart is round, and nothing passes it', async (t) => {
  const top = (...values: (number | null)[]) => findTop([{ name: '', values }])
  t.strictSame([top(), top(0, null), top(1), top(1.1), top(4), top(5.1), top(1200), top(0.03)], [1, 1, 1, 2, 5, 10, 2000, 0.05]) // prettier-ignore
})

t.test('each chart says of late, at most and when', async (t) => {
  const said = Object.fromEntries(describeCharts(series).map((chart) => [chart.name, readOut(chart, series)])) // prettier-ignore
  t.strictSame(said, {
    'Arrivals and ends per second':
      'received: 0.5/s of late, at most 2/s, at 14:00. ended: 0.5/s of late, at most 1/s, at 14:00.',
    'Wait p95': 'waited: 500 ms of late, at most 2 s, at 14:00.',
    'Submissions waiting': 'waiting: 0 of late, at most 1,200, at 14:04.',
    'Failures and refusals':
      'failed: 0 of late, at most 1, at 14:02. refused by this process: 0 of late, at most 40, at 14:02.',
  })
  const [throughput] = describeCharts({ ...series, points: [] })
  if (throughput !== undefined)
    t.equal(readOut(throughput, series), 'received: nothing. ended: nothing.')
})

t.test('a step that has hardly begun tells no rate', async (t) => {
  const [throughput] = describeCharts(series)
  t.strictSame(throughput?.lines[0]?.values, [2, 0, 0.5, null])
})
