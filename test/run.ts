// Runs test files (all by default): one PostgreSQL for them together, then tap. Prints a line a file and everything of
// a file that failed, a suite's own summary, then the count on a line of its own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { startTestCluster } from './helper/database.ts'

const cluster = await startTestCluster()
const tap = spawn('tap', ['--reporter=tap', ...process.argv.slice(2)], {
  stdio: ['ignore', 'pipe', 'inherit'],
  env: { ...process.env, TEST_CLUSTER_URL: cluster.url },
})

const ended = once(tap, 'exit') as Promise<[number | null]>
let file: string[] = []
let total = ''
for await (const line of createInterface({ input: tap.stdout })) {
  file.push(line)
  if (/^(not )?ok /.test(line)) {
    process.stdout.write(`${line.startsWith('ok') ? line : file.join('\n')}\n`)
    file = []
  } else if (/^ +# (hostile|neighbour|faults|image): /.test(line)) {
    process.stdout.write(`${line.trim()}\n`)
  } else if (line.startsWith('# { total:')) {
    total = line
  }
}
const [code] = await ended
await cluster.stop()

const count = (name: string): number =>
  Number(new RegExp(`\\b${name}: (\\d+)`).exec(total)?.[1] ?? 0)
process.stdout.write(
  `\n${count('pass')} passed, ${count('fail')} failed, ${count('skip')} skipped\n`,
)
process.exitCode = code ?? 1
