// `make test-python`: builds the Python package, checks it with mypy and ruff, installs it into clean environments of
// several interpreters, and runs its tests and its README's examples against a whole service.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readPage } from '../docs/page.ts'
import { startPythonService } from './service.ts'
import { findInterpreters, installTools, installWheel, packageFolder, run } from './tools.ts'
import { makeDirectory } from '../helper/directory.ts'

const folder = makeDirectory(t)
const tool = await installTools()
const made = join(folder, 'dist')
const built = await run(tool('python'), ['-m', 'build', '--no-isolation', '--outdir', made])
if (built.code !== 0) throw new Error(built.output)
const nameOf = (end: string): string =>
  join(made, readdirSync(made).find((name) => name.endsWith(end)) ?? '')
const wheel = nameOf('.whl')

const service = await startPythonService(t, folder)
const interpreters = [...(await findInterpreters())]
t.comment(`interpreters: ${interpreters.map(([name]) => name).join(', ')}`)
/** Each interpreter has a virtual environment and a separate web process, because its tests kill the web process. */
const trials = await Promise.all(
  interpreters.map(async ([name, path], index) => ({
    name,
    python: await installWheel(path, wheel, join(folder, `venv-${index}`), index === 0),
    environment: await service.startWeb(t),
  })),
)
const [debian] = trials
if (debian === undefined) throw new Error('this machine has no /usr/bin/python3')
// The tests run in parallel, because most of the time they wait.
const running = trials.map(({ python, environment }) =>
  run(python, ['-m', 'unittest', 'discover', 'tests'], {
    ...environment,
    PYTHONDONTWRITEBYTECODE: '1',
  }),
)

t.test('wheel and sdist hold the package and its types, in the service’s version', async (t) => {
  const list = `import sys, zipfile, tarfile
print("\\n".join(zipfile.ZipFile(sys.argv[1]).namelist()))
print("\\n".join(tarfile.open(sys.argv[2]).getnames()))`
  const { output } = await run('/usr/bin/python3', ['-c', list, wheel, nameOf('.tar.gz')])
  const names = output.trim().split('\n')
  const { version } = JSON.parse(readFileSync(join(packageFolder, '../../package.json'), 'utf8')) as { version: string } // prettier-ignore
  const files = readdirSync(join(packageFolder, 'src/runledger'), { encoding: 'utf8', recursive: true }).filter((name) => /\.(py|typed)$/.test(name)) // prettier-ignore
  t.ok(files.includes('py.typed'))
  for (const name of files) {
    t.ok(names.includes(`runledger/${name}`), name)
    t.ok(names.includes(`runledger-${version}/src/runledger/${name}`), name)
  }
  t.notMatch(output, /\.data|\.pyc|node_modules/)
  const said = await run(debian.python, ['-c', 'import runledger; print(runledger.__version__)'])
  t.equal(said.output.trim(), version)
})

t.test('its types and its style are without fault', async (t) => {
  const folders = ['src', 'tests']
  for (const [name, parameters] of [
    ['mypy', ['--cache-dir', join(folder, 'mypy'), 'src']],
    ['ruff', ['check', '--no-cache', ...folders]],
    ['ruff', ['format', '--no-cache', '--check', ...folders]],
  ] as const) {
    const { code, output } = await run(tool(name), parameters)
    t.equal(code, 0, `${name} ${parameters[0]}: ${output}`)
  }
})

t.test('a project that has the wheel is told by its types what is wrong', async (t) => {
  const check = async (name: string, source: string): Promise<string> => {
    const file = join(folder, name)
    writeFileSync(file, `from runledger import Client\nclient = Client("http://localhost:1", "k")\n${source}\n`) // prettier-ignore
    const options = ['--strict', '--cache-dir', join(folder, 'mypy-use'), '--python-executable']
    return (await run(tool('mypy'), [...options, debian.python, file], {}, folder)).output
  }
  const right = `result = client.run({"language": "python", "code": "1", "tests": [{"stdin": "1"}]})
verdict: str | None = result["verdict"]
for event in client.stream(result["id"]):
    if event["event"] == "result":
        print(event["data"]["stdout"])`
  t.match(await check('right.py', right), /^Success/)
  t.match(await check('field.py', 'client.run({"language": "python", "kode": "1"})'), /kode/)
  t.match(await check('record.py', 'client.read("a")["verdickt"]'), /verdickt/)
})

for (const [index, { name }] of trials.entries()) {
  t.test(`its own tests pass with ${name}`, async (t) => {
    const { code, output } = (await running[index]) ?? { code: -1, output: '' }
    t.equal(code, 0, output)
    const [, count] = /^Ran (\d+) tests/m.exec(output) ?? []
    t.ok(Number(count) > 50, output.split('\n').slice(-4).join('\n'))
    t.notMatch(output, /skipped=/)
  })
}

t.test('the examples of its README work, one after another', async (t) => {
  const { blocks } = readPage('clients/python/README.md')
  const examples = blocks.filter(({ language, notRun }) => language === 'python' && notRun === null)
  t.ok(examples.length >= 4)
  for (const { line, text } of examples) {
    const { RUNLEDGER_TEST_URL: origin = '', RUNLEDGER_TEST_KEY: KEY = '' } = debian.environment
    const program = text.replaceAll('http://localhost:3000', origin)
    const { code, output } = await run(debian.python, ['-c', program], { KEY }, folder)
    t.equal(code, 0, `clients/python/README.md:${line} ${output}`)
  }
})
