// Runs test files (all by default), each in a process of its own. They share one PostgreSQL and one cache of compiled
// scripts. Prints a line for each file, the whole output of a failed file, the summary lines of suites, and last the count on
// a line of its own.
//
// Usage: node test/run.ts [--jobs=NUMBER] [FILE…]
import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { startTestCluster } from './helper/database.ts'
import { takesLong, waits } from './order.ts'

/** After this time a file has failed. It is long, because it only ends tests that hang. */
const timeoutSeconds = 2700

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { jobs: { type: 'string', default: '3' } },
})
const cluster = await startTestCluster()
// The cluster lies in memory, which would stay occupied.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void cluster.stop().finally(() => process.exit(130)))
const scripts = mkdtempSync(join(tmpdir(), 'runledger-test-scripts-'))
const environment = {
  ...process.env,
  TAP: '1',
  TAP_TIMEOUT: String(timeoutSeconds),
  TEST_CLUSTER_URL: cluster.url,
  NODE_COMPILE_CACHE: scripts,
}
const total = { pass: 0, fail: 0, skip: 0 }
let ended = 0

const files = positionals.length > 0 ? positionals : globSync('test/**/*.test.ts').toSorted()
const isWaiting = new Set(waits)
const waiting = files.filter((file) => isWaiting.has(file))
const working = sortByCost(files.filter((file) => !isWaiting.has(file)))
// Files that mostly wait run beside files that use the cores. The lanes go on with the others.
const jobs = Number(values.jobs)
const beside = jobs > 1 && waiting.length > 0 ? 2 : 0
const lanes = [
  ...Array.from({ length: jobs }, () => [working, waiting]),
  ...Array.from({ length: beside }, () => [waiting, working]),
]
await Promise.all(
  lanes.map(async (queues) => {
    const next = (): string | undefined => queues.find((queue) => queue.length > 0)?.shift()
    for (let file = next(); file !== undefined; file = next()) await run(file)
  }),
)
await cluster.stop()
rmSync(scripts, { recursive: true })
process.stdout.write(`\n${total.pass} passed, ${total.fail} failed, ${total.skip} skipped\n`)
process.exitCode = total.fail === 0 ? 0 : 1

/** Sorts the longest files first, so that none of them runs alone at the end. */
function sortByCost(names: readonly string[]): string[] {
  const first = takesLong.filter((name) => names.includes(name))
  return [...first, ...names.filter((name) => !first.includes(name))]
}

async function run(file: string): Promise<void> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: environment,
  })
  // A test ends itself when its time is over, unless its process is stuck.
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutSeconds * 1000 + 30_000)
  const output = createInterface({ input: child.stdout })
  const exited = new Promise<number | null>((done) => child.once('exit', done))
  // A process that the file has left behind may hold the output open.
  child.once('exit', () => {
    setTimeout(() => {
      output.close()
      child.stdout.destroy()
    }, 30_000).unref()
  })
  const lines: string[] = []
  let counts = ''
  for await (const line of output) {
    lines.push(`    ${line}`)
    if (/^ *# (hostile|neighbour|faults|image|doors|restore|cells): /.test(line)) say(line.trim())
    if (line.startsWith('# { total:')) counts = line
  }
  const code = await exited
  clearTimeout(timer)

  const count = (name: string): number =>
    Number(new RegExp(`\\b${name}: (\\d+)`).exec(counts)?.[1] ?? 0)
  const isGreen = code === 0 && counts !== '' && count('fail') === 0
  total.pass += count('pass')
  total.fail += isGreen ? 0 : Math.max(1, count('fail'))
  total.skip += count('skip')
  ended += 1
  if (!isGreen) say([`# Subtest: ${file}`, ...lines].join('\n'))
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  say(`${isGreen ? 'ok' : 'not ok'} ${ended} - ${file} # time=${seconds}s`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
