// Go programs of several packages, where the host has Go: with a module file, and without one.
import t from 'tap'
import { execute, layFiles, startExecutor } from '../../helper/executor.ts'

// Python is included because no executor starts without a language.
const executor = await startExecutor(t, {
  slots: 1,
  languages: ['go', 'python'],
  onMissing: () => {},
})
const skip = executor.runtimes.go === undefined && 'Go is not installed'

async function run(path: string, files: Readonly<Record<string, string>>): Promise<string> {
  const code = `package main\n\nimport (\n\t"fmt"\n\t"${path}"\n)\n\nfunc main() {\n\tfmt.Println(inner.Get())\n}\n`
  const { compile, run: ran } = await execute(executor, 'go', code, '', { files: layFiles(files) })
  return ran?.stdout ?? compile?.stderr ?? ''
}

const inner = 'package inner\n\nfunc Get() int { return 42 }\n'

t.test('a package is a directory beside the main file', { skip }, async (t) => {
  t.equal(await run('./inner', { 'inner/inner.go': inner }), '42\n')
})

t.test('with a module file its path is the module’s', { skip }, async (t) => {
  const module = 'module example.com/outer\n\ngo 1.16\n'
  const files = { 'go.mod': module, 'inner/inner.go': inner }
  t.equal(await run('example.com/outer/inner', files), '42\n')
})
