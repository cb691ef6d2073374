// Checks deploy/ for Prometheus and Grafana: promtool accepts the rules, their tests and the metrics, and every series that
// the rules and the dashboard name exists in the /metrics of a real web process.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { openTestDatabase } from '../helper/database.ts'
import { startWebProcess } from '../helper/web.ts'
import { findStrange, readExposition, readSamples } from './exposition.ts'

interface Dashboard {
  readonly templating: { readonly list: readonly { readonly name: string }[] }
  readonly panels: readonly Panel[]
}
interface Panel {
  readonly id: number
  readonly title: string
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>
  readonly datasource: { readonly uid: string }
  readonly targets: readonly {
    readonly refId: string
    readonly expr: string
    readonly legendFormat: string
  }[]
}

const root = resolve(import.meta.dirname, '../..')
const promtool = [process.env['PROMTOOL'], '/usr/bin/promtool', join(root, '.data/promtool')].find(
  (path) => path !== undefined && existsSync(path),
)
if (promtool === undefined) throw new Error('promtool is missing: `make promtool` fetches it')

const alerts = readFileSync(join(root, 'deploy/prometheus/alerts.yaml'), 'utf8')
const dashboard = JSON.parse(
  readFileSync(join(root, 'deploy/grafana/dashboard.json'), 'utf8'),
) as Dashboard
const { sql, url } = await openTestDatabase(t)
const { port } = await startWebProcess(t, url)
const exposition = await readExposition(sql, port)
const samples = readSamples(exposition)

function judge(t: Test, args: readonly string[], input?: string): void {
  const { status, stdout, stderr } = spawnSync(promtool ?? '', args, {
    cwd: join(root, 'deploy/prometheus'),
    encoding: 'utf8',
    input,
  })
  t.equal(status, 0, `promtool ${args.join(' ')}\n${stdout}${stderr}`)
}

t.test('promtool takes the configuration, and each alert fires when it should', async (t) => {
  judge(t, ['check', 'config', 'prometheus.yaml'])
  judge(t, ['check', 'rules', 'alerts.yaml'])
  judge(t, ['test', 'rules', 'alerts.test.yaml'])
})

t.test('every alert has a test in which it fires', async (t) => {
  const tests = readFileSync(join(root, 'deploy/prometheus/alerts.test.yaml'), 'utf8')
  const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => name ?? '')
  t.ok(names.length > 0)
  for (const name of names) t.match(tests, `alertname="${name}",alertstate="firing"`, name)
})

t.test('promtool finds no fault with what a web process tells', async (t) => {
  judge(t, ['check', 'metrics'], exposition)
})

t.test('what the alerts name stands in /metrics', async (t) => {
  for (const alert of alerts.split('- alert: ').slice(1))
    t.strictSame(findStrange(alert, samples), [], alert.slice(0, alert.indexOf('\n')))
})

t.test('what the alerts tell to run is there', async (t) => {
  const { stdout } = spawnSync('node', ['src/cli/cli.ts', '--help'], {
    cwd: root,
    encoding: 'utf8',
  })
  const told = [...alerts.replaceAll(/\s+/g, ' ').matchAll(/`runledger ([a-z]+(?: [a-z]+)?)/g)]
  t.ok(told.length > 0)
  for (const [, command = ''] of told) t.match(stdout, new RegExp(`^  ${command}\\b`, 'm'), command)
})

t.test('what the dashboard names stands in /metrics', async (t) => {
  for (const { title, targets } of dashboard.panels) {
    for (const { expr, legendFormat } of targets) {
      t.strictSame(findStrange(expr, samples), [], `${title}: ${expr}`)
      for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
        t.match(expr, new RegExp(`\\bby \\([^)]*\\b${label}\\b`), `${title} keeps ${label}`)
    }
  }
})

t.test('what the dashboard asks is PromQL', async (t) => {
  const rules = dashboard.panels
    .flatMap(({ targets }) => targets)
    .map(({ expr }) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'runledger'))
    .map((expr, index) => ({ record: `expression_${index}`, expr }))
  t.ok(rules.length > 0)
  const file = join(t.testdir(), 'dashboard.yaml') // JSON is YAML
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  judge(t, ['check', 'rules', file])
})

t.test('the dashboard has the form that Grafana reads', async (t) => {
  const variables = dashboard.templating.list.map(({ name }) => name)
  t.strictSame(variables, ['datasource', 'job'])
  const { panels } = dashboard
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length, 'ids are unique')
  for (const { title, gridPos, datasource, targets } of panels) {
    t.equal(datasource.uid, '${datasource}', title)
    t.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title)
    t.ok(gridPos.x + gridPos.w <= 24, `${title} is within the grid`)
  }
  const pairs = panels.flatMap((one, index) => panels.slice(index + 1).map((other) => [one, other]))
  for (const [one, other] of pairs)
    if (one && other && overlap(one, other)) t.fail(`${one.title} lies over ${other.title}`)
})

function overlap({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
}
