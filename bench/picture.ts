// Draws the goals for docs/performance.md: one bar per goal, from the floor to the measured value, on one axis of time over
// the floor's time. The axis is logarithmic, so that half and double look alike. The picture has a light and a dark theme.
import type { GoalOutcome } from './judge.ts'

const rowHeight = 28
const top = 104
const axis = { left: 270, right: 605 }
const width = 900

interface Drawn extends GoalOutcome {
  readonly cost: NonNullable<GoalOutcome['cost']>
}

/**
 * Draws the outcomes that have a cost.
 * @param caption one line about the machine and the day.
 * @param disturbance the warning for figures from a busy machine.
 * @returns an SVG document.
 */
export function drawGoals(
  outcomes: readonly GoalOutcome[],
  caption: string,
  disturbance: string | null = null,
): string {
  const drawn = outcomes.filter((outcome): outcome is Drawn => outcome.cost !== null)
  const costs = drawn.flatMap(({ cost }) => [cost.measured, cost.wanted, cost.peer?.cost ?? 1])
  const least = Math.min(0.1, ...costs) / 1.15
  const most = Math.max(10, ...costs) * 1.15
  const x = (cost: number): number =>
    axis.left +
    ((Math.log(cost) - Math.log(least)) / (Math.log(most) - Math.log(least))) *
      (axis.right - axis.left)
  const bottom = top + drawn.length * rowHeight
  const height = bottom + 72
  const ticks = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500].filter(
    (tick) => tick >= least && tick <= most,
  )
  const met = drawn.filter((outcome) => outcome.met).length
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${met} of ${drawn.length} goals of speed are met">`,
    style,
    `<rect class="page" width="${width}" height="${height}" rx="8"/>`,
    text(24, 34, 'title', 'Time per run, over the floor of the same run'),
    ...(disturbance === null ? [] : [text(876, 34, 'disturbed', disturbance)]),
    text(
      24,
      56,
      'quiet',
      'Left of 1× is faster than the bare floor: the program alone, compiled and run by hand, or one row stored.',
    ),
    legend(24, 80),
    ...ticks.map(
      (tick) =>
        line(x(tick), top - 4, x(tick), bottom, tick === 1 ? 'floor' : 'grid') +
        text(x(tick), bottom + 18, tick === 1 ? 'tick one' : 'tick', `${tick}×`),
    ),
    ...drawn.map((outcome, n) => drawRow(outcome, top + n * rowHeight, x)),
    text(24, height - 18, 'quiet small', caption),
    '</svg>',
  ].join('\n')}\n`
}

function drawRow(outcome: Drawn, y: number, x: (cost: number) => number): string {
  const { id, what, headline, wanted, met, cost } = outcome
  const middle = y + rowHeight / 2
  const [from, to] = [x(1), x(cost.measured)].toSorted((left, right) => left - right)
  const bar = `<rect class="${met ? 'met' : 'missed'}" x="${round(from ?? 0)}" y="${middle - 7}" width="${round(Math.max(1.5, (to ?? 0) - (from ?? 0)))}" height="14" rx="2"/>`
  const goal = `<path class="goal" d="M${round(x(cost.wanted))} ${middle - 11}v22"/>`
  const peer =
    cost.peer === null
      ? ''
      : `<circle class="peer" cx="${round(x(cost.peer.cost))}" cy="${middle}" r="4.5"><title>${escape(cost.peer.name)}</title></circle>`
  return [
    text(24, middle + 4, 'id', id),
    text(56, middle + 4, 'label', what),
    bar,
    goal,
    peer,
    text(700, middle + 4, 'figure', headline),
    text(715, middle + 4, 'quiet', `goal ${wanted}`),
    text(876, middle + 4, met ? 'yes' : 'no', met ? '✓' : '✗'),
  ].join('')
}

function legend(x: number, y: number): string {
  return [
    `<rect class="met" x="${x}" y="${y - 10}" width="18" height="11" rx="2"/>`,
    text(x + 24, y, 'quiet', 'goal met'),
    `<rect class="missed" x="${x + 92}" y="${y - 10}" width="18" height="11" rx="2"/>`,
    text(x + 116, y, 'quiet', 'not met'),
    `<path class="goal" d="M${x + 186} ${y - 12}v15"/>`,
    text(x + 194, y, 'quiet', 'goal'),
    `<circle class="peer" cx="${x + 246}" cy="${y - 4.5}" r="4.5"/>`,
    text(x + 256, y, 'quiet', 'best known elsewhere'),
  ].join('')
}

function line(x1: number, y1: number, x2: number, y2: number, name: string): string {
  return `<path class="${name}" d="M${round(x1)} ${y1}L${round(x2)} ${y2}"/>`
}

function text(x: number, y: number, name: string, words: string): string {
  return `<text class="${name}" x="${round(x)}" y="${y}">${escape(words)}</text>`
}

function round(value: number): string {
  return value.toFixed(1)
}

function escape(words: string): string {
  return words
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

const style = `<style>
text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328 }
.page { fill: #ffffff; stroke: #d1d9e0 }
.title { font-size: 17px; font-weight: 600 }
.quiet, .tick { fill: #59636e; font-size: 12px }
.disturbed { fill: #b35900; font-weight: 600; text-anchor: end }
.small { font-size: 11px }
.id { font-weight: 600 }
.tick { text-anchor: middle }
.one { fill: #1f2328; font-weight: 600 }
.figure { text-anchor: end; font-weight: 600; font-variant-numeric: tabular-nums }
.yes, .no { text-anchor: end; font-weight: 600 }
.grid { stroke: #d1d9e0; stroke-width: 1 }
.floor { stroke: #1f2328; stroke-width: 1.5 }
.met { fill: #0969da }
.missed { fill: #d4772c }
.yes { fill: #0969da }
.no { fill: #b35900 }
.goal { stroke: #1f2328; stroke-width: 2.5; fill: none }
.peer { fill: #ffffff; stroke: #59636e; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
  text, .one { fill: #f0f6fc }
  .page { fill: #0d1117; stroke: #3d444d }
  .quiet, .tick { fill: #9198a1 }
  .grid { stroke: #30363d }
  .floor, .goal { stroke: #f0f6fc }
  .met, .yes { fill: #4493f8 }
  .missed, .no, .disturbed { fill: #e0823d }
  .peer { fill: #0d1117; stroke: #9198a1 }
}
</style>`
