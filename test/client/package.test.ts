// The packed client in a separate project, as its users install it: another Node, no checkout, checked by the compiler.
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { makeDirectory } from '../helper/directory.ts'
import { startFreshServer } from '../helper/server.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const directory = makeDirectory(t)

/** Runs a command without the test runner's hooks, which it adds to the environment of every child. @returns its output. */
function run(cwd: string, command: string, ...parameters: string[]): string {
  const line = ['-c', 'unset NODE_OPTIONS; exec "$@"', 'sh', command, ...parameters]
  return execFileSync('sh', line, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

run(
  root,
  'npm',
  'pack',
  './clients/typescript',
  '--pack-destination',
  directory,
  '--loglevel=error',
)
const [tarball = ''] = readdirSync(directory)
const project = join(directory, 'project')
mkdirSync(project)
writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'project', type: 'module' }))
run(project, 'npm', 'install', '--offline', '--no-audit', '--no-fund', `../${tarball}`)
const installed = join(project, 'node_modules/runledger-client')

/** Returns the machine's own Node rather than the one in the project; the project's Node where there is no other. */
function findNode(): string {
  const directories = (process.env['PATH'] ?? '').split(delimiter)
  const own = directories.find(
    (path) => !path.includes('node_modules') && existsSync(join(path, 'node')),
  )
  return own === undefined ? process.execPath : join(own, 'node')
}

t.test('it holds the JavaScript and its types, and nothing else', async (t) => {
  t.strictSame(readdirSync(installed).toSorted(), ['README.md', 'dist', 'package.json'])
  const names = readdirSync(join(root, 'clients/typescript/src')).filter((name) =>
    name.endsWith('.ts'),
  )
  const packed = names.flatMap((name) => ['.d.ts', '.js'].map((end) => name.replace(/\.ts$/, end)))
  t.strictSame(readdirSync(join(installed, 'dist')).toSorted(), packed.toSorted())
})

t.test('its version is the service’s, and it leaves nothing in the checkout', async (t) => {
  const read = (path: string): { version: string; dependencies?: object } =>
    JSON.parse(readFileSync(path, 'utf8')) as { version: string; dependencies?: object }
  t.equal(read(join(installed, 'package.json')).version, read(join(root, 'package.json')).version)
  t.notOk(read(join(installed, 'package.json')).dependencies)
  t.notOk(existsSync(join(root, 'clients/typescript/dist')))
})

t.test('a project of the machine’s Node submits and reads by it', async (t) => {
  const server = await startFreshServer(t)
  writeFileSync(
    join(project, 'main.js'),
    `import { createClient, RunledgerError, verifyWebhook } from 'runledger-client'
const client = createClient({ url: process.env.SERVICE, apiKey: process.env.KEY })
const { id } = await client.submit({ language: 'python', code: 'print(1)' })
const { status } = await client.read(id)
const refusal = await client.submit({ language: 'none', code: '' }).catch((error) => error)
const forged = await verifyWebhook({ headers: {}, body: '', secret: 'x' })
console.log(JSON.stringify({ status, refused: refusal instanceof RunledgerError && refusal.code, forged }))
`,
  )
  const command = 'unset NODE_OPTIONS; exec "$1" main.js'
  const { stdout } = await promisify(execFile)('sh', ['-c', command, 'sh', findNode()], {
    cwd: project,
    env: { SERVICE: `http://127.0.0.1:${server.port}`, KEY: await server.issue() },
  })
  t.strictSame(JSON.parse(stdout), { status: 'queued', refused: 'invalid_request', forged: null })
})

t.test('a strict TypeScript project compiles by its types and is told what is wrong', async (t) => {
  const compile = (source: string): string => {
    writeFileSync(join(project, 'main.ts'), source)
    const options = '--strict --noEmit --module nodenext --lib es2022,dom'.split(' ')
    try {
      return run(project, join(root, 'node_modules/.bin/tsc'), ...options, 'main.ts')
    } catch (error) {
      return (error as { stdout: string }).stdout
    }
  }
  const head = `import { createClient } from 'runledger-client'\nimport type { Result } from 'runledger-client'\n`
  const call = `const client = createClient({ url: 'http://localhost', apiKey: '' })\n`
  t.equal(
    compile(
      `${head}${call}export const result: Promise<Result> = client.run({ language: 'latin', code: '' })`,
    ),
    '',
  )
  t.match(compile(`${head}${call}void client.run({ language: 'c' })`), /'code' is missing/)
})
