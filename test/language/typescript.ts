// TypeScript's programs.
import type { Programs } from './program.ts'

export const typescript: Programs = {
  sum: `import { readFileSync } from 'fs'
const [a = 0, b = 0]: number[] = readFileSync(0, 'utf8').trim().split('\\n').map(Number)
console.log(a + b)`,
  copy: 'process.stdin.pipe(process.stdout)',
  unicode: `import * as readline from 'node:readline'
const lines = readline.createInterface({ input: process.stdin })
console.log('Grüße, 世界 🎉')
lines.on('line', (line: string) => console.log(line))`,
  exitThree: `console.log('out')\nconsole.error('err')\nprocess.exit(3)`,
  uncaught: {
    code: `function f(x: number): never {\n  throw new RangeError('no such thing')\n}\nf(1)`,
    says: /RangeError: no such thing\n +at f /,
  },
  broken: {
    code: `const a: number = 1\nconst b: number = a\nconst c: number = 'three'\n`,
    says: /main\.ts\(3,7\): error TS2322/,
  },
  busyLoop: 'while (true);',
  sleeper: 'setTimeout(() => {}, 60_000)',
  memoryBomb:
    'const kept: number[][] = []\nwhile (true) kept.push(new Array<number>(100_000).fill(kept.length))',
  outputFlood: 'for (;;) console.log("x".repeat(100))',
  scratch: `import { promises as fs } from 'fs'
async function main(): Promise<void> {
  await fs.writeFile('/tmp/file', 'kept')
  console.log(await fs.readFile('/tmp/file', 'utf8'))
}
main()`,
  threads: `import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'
if (isMainThread) {
  const add = (part: number): Promise<number> =>
    new Promise((resolve) => new Worker(__filename, { workerData: part }).on('message', resolve))
  Promise.all([0, 1, 2, 3].map(add)).then((sums) => console.log(sums.reduce((a, b) => a + b)))
} else {
  let sum = 0
  for (let n = workerData * 250 + 1; n <= workerData * 250 + 250; n++) sum += n
  parentPort?.postMessage(sum)
}`,
  network: `import { connect } from 'node:net'
connect(9, '127.0.0.1').on('error', () => console.log('closed'))`,
  usual: `import { readFileSync } from 'node:fs'

interface Row {
  name: string
  number: number
}

const rows = new Map<string, Row>()
for (const [, name = '', number] of readFileSync(0, 'utf8').matchAll(/^(\\w+) (-?\\d+)$/gm)) {
  rows.set(name, { name, number: Number(number) })
}
const sorted = [...rows.values()].toSorted(
  (a, b) => a.number - b.number || a.name.localeCompare(b.name),
)
for (const { name, number } of sorted) console.log(\`\${name}: \${number}\`)
const mean: number = sorted.reduce((sum, { number }) => sum + number, 0) / sorted.length
console.log(\`mean: \${mean.toFixed(2)}\`)`,
  arguments: 'for (const word of process.argv.slice(2)) console.log(word)',
  variable: "console.log(process.env['GREETING'])",
  secondFile: {
    code: "import { answer } from './answer'\nimport type { Answer } from './answer.ts'\n\nconst n: Answer = answer()\nconsole.log(n)",
    file: {
      name: 'answer.ts',
      content: 'export type Answer = number\n\nexport const answer = (): Answer => 42\n',
    },
  },
  compileArguments: {
    words: ['--noImplicitAny', 'false'],
    code: 'const same = (n) => n\nconsole.log(same(42))',
  },
}
