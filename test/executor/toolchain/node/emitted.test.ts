// TypeScript programs of several files: imports as people write them find their files, and the format that carries the
// files from the compiler to the run is read strictly.
import t from 'tap'
import type { ExecutionRequest } from '#executor'
import { readEmitted } from '../../../../src/executor/toolchain/node/emitted.ts'
import { execute, layFiles, startExecutor } from '../../../helper/executor.ts'

const executor = await startExecutor(t, { slots: 1, languages: ['typescript', 'javascript'] })

async function run(
  language: 'typescript' | 'javascript',
  code: string,
  files: Readonly<Record<string, string>>,
  given: Partial<ExecutionRequest> = {},
): Promise<string> {
  const asked = { files: layFiles(files), ...given }
  const { compile, run: ran } = await execute(executor, language, code, '', asked)
  return [compile?.stderr, ran?.stdout, ran?.stderr].join('')
}

t.test('an import names a file as people name it', async (t) => {
  const named = (name: string): string => `import { n } from '${name}'\nconsole.log(n)`
  const files = {
    'one.ts': 'export const n: number = 1',
    'deep/two.ts': "import { n as one } from '../one'\nexport const n: number = one + 1",
    'deep/index.ts': "export { n } from './two'",
    'three.mts': 'export const n: number = 3',
  }
  for (const [name, n] of [
    ['./one', 1],
    ['./one.js', 1],
    ['./one.ts', 1],
    ['./deep/two', 2],
    ['./deep', 2],
    ['./three.mjs', 3],
    ['./three.mts', 3],
  ] as const)
    t.equal(await run('typescript', named(name), files), `${n}\n`, name)
  t.match(await run('typescript', named('./four'), files), /main\.ts\(1,19\): error TS2307/)
})

t.test(
  'what the compiler copies stands once, and a tsconfig.json is a file like others',
  async (t) => {
    const code = `import { readFileSync } from 'node:fs'
import data from './data.json' with { type: 'json' }
console.log(data.n + readFileSync('data.json').length, process.argv[2])`
    const files = { 'data.json': '{"n":34}', 'tsconfig.json': '{"files":["none.ts"]}' }
    const given = { compileArguments: ['--resolveJsonModule'], arguments: ['word'] }
    t.equal(await run('typescript', code, files, given), '42 word\n')
  },
)

t.test('a program in JavaScript finds its files, modules or not', async (t) => {
  for (const [code, file] of [
    ["console.log(require('./one').n)", 'exports.n = 1'],
    ["import { n } from './one.js'\nconsole.log(n)", 'export const n = 1'],
  ] as const)
    t.equal(await run('javascript', code, { 'one.js': file }), '1\n')
})

t.test('files are read as they were written', (t) => {
  const bytes = Buffer.from('main.js 3\na\nbdeep/x.js 0\nz.js 1\nc')
  t.strictSame(
    readEmitted(bytes).map(({ path, content }) => [path, Buffer.from(content).toString()]),
    [
      ['/box/main.js', 'a\nb'],
      ['/box/deep/x.js', ''],
      ['/box/z.js', 'c'],
    ],
  )
  t.strictSame(readEmitted(Buffer.alloc(0)), [])
  t.end()
})

t.test('what is no list of files is refused', (t) => {
  const texts = [
    'main.js', 'main.js\n', 'main.js 2\na', 'main.js 01\na', 'main.js -1\n',
    'main.js 9999999999\na', '/main.js 1\na', '../main.js 1\na', 'a/../../main.js 1\na',
    'a//b.js 1\na', './main.js 1\na', '.. 1\na', 'ma in.js 1\na', 'main.js 1\nab',
    `${'x'.repeat(1024)} 1\na`, 'x.js 0\n'.repeat(1025),
  ] // prettier-ignore
  for (const text of texts) t.throws(() => readEmitted(Buffer.from(text)), text.slice(0, 40))
  t.end()
})
