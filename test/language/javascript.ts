// JavaScript's programs.
import type { Programs } from './program.ts'

export const javascript: Programs = {
  sum: `const [a, b] = require('fs').readFileSync(0, 'utf8').trim().split('\\n').map(Number)
console.log(a + b)`,
  copy: 'process.stdin.pipe(process.stdout)',
  unicode: `const readline = require('readline').createInterface({ input: process.stdin })
console.log('Grüße, 世界 🎉')
readline.on('line', (line) => console.log(line))`,
  exitThree: `console.log('out')\nconsole.error('err')\nprocess.exit(3)`,
  uncaught: {
    code: `function f(x) {\n  throw new TypeError('no such thing')\n}\nf(1)`,
    says: /main\.js:2\n[^]*TypeError: no such thing/,
  },
  broken: {
    code: 'const a = 1\nconst b = 2\nconst c = = 3\n',
    says: /main\.js:3\n[^]*SyntaxError/,
  },
  busyLoop: 'while (true);',
  sleeper: 'setTimeout(() => {}, 60_000)',
  memoryBomb: 'const kept = []\nwhile (true) kept.push(new Array(100_000).fill(kept.length))',
  outputFlood: 'for (;;) console.log("x".repeat(100))',
  scratch: `import { readFile, writeFile } from 'node:fs/promises'
await writeFile('/tmp/file', 'kept')
console.log(await readFile('/tmp/file', 'utf8'))`,
  threads: `const { Worker, isMainThread, parentPort, workerData } = require('worker_threads')
if (isMainThread) {
  const add = (part) =>
    new Promise((resolve) => new Worker(__filename, { workerData: part }).on('message', resolve))
  Promise.all([0, 1, 2, 3].map(add)).then((sums) => console.log(sums.reduce((a, b) => a + b)))
} else {
  let sum = 0
  for (let n = workerData * 250 + 1; n <= workerData * 250 + 250; n++) sum += n
  parentPort.postMessage(sum)
}`,
  network: `const net = require('net')
net.connect(9, '127.0.0.1').on('error', () => console.log('closed'))`,
  usual: `const fs = require('fs')
const rows = [...fs.readFileSync(0, 'utf8').matchAll(/^(?<name>\\w+) (?<number>-?\\d+)$/gm)].map(
  ({ groups: { name, number } }) => ({ name, number: Number(number) }),
)
rows.sort((a, b) => a.number - b.number || a.name.localeCompare(b.name))
for (const { name, number } of rows) console.log(\`\${name}: \${number}\`)
const mean = rows.reduce((sum, { number }) => sum + number, 0) / rows.length
console.log(\`mean: \${mean.toFixed(2)}\`)`,
  arguments: 'for (const word of process.argv.slice(2)) console.log(word)',
  variable: 'console.log(process.env.GREETING)',
  secondFile: {
    code: "const { answer } = require('./answer')\nconsole.log(answer())",
    file: { name: 'answer.js', content: 'exports.answer = () => 42\n' },
  },
}
