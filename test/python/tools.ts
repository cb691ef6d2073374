// The tools that build, check and test the Python package: exact versions from PyPI, and the interpreters of this machine.
import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
/** The package's folder. */
export const packageFolder = join(root, 'clients/python')
const folder = join(root, '.data/python')

/** Includes the build-system of pyproject.toml, because the build downloads nothing. */
const tools = ['pip==25.3', 'build==1.6.1', 'hatchling==1.33.0', 'mypy==2.4.1', 'ruff==0.17.6']
const cryptography = 'cryptography==48.0.0'
/** The minor versions of Python 3 to look for. */
const [oldest, newest] = [9, 30]

export interface Ended {
  readonly code: number
  /** Both streams. */
  readonly output: string
}

/** Runs a program without the test runner's hooks. */
export function run(
  command: string,
  parameters: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  cwd = packageFolder,
): Promise<Ended> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: homedir(), ...environment }
  return new Promise((done) => {
    const options = { cwd, env, timeout: 600_000, maxBuffer: 64 * 1024 * 1024 }
    execFile(command, parameters, options, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : Number(error.code ?? -1), output: stdout + stderr }),
    )
  })
}

async function demand(command: string, ...parameters: string[]): Promise<void> {
  const { code, output } = await run(command, parameters, {}, root)
  if (code !== 0) throw new Error(`${command} ${parameters.join(' ')}: ${output}`)
}

/** Installs what is missing. @returns a function that returns the path of a tool. */
export async function installTools(): Promise<(name: string) => string> {
  const python = join(folder, 'bin/python')
  if (!existsSync(python)) await demand('/usr/bin/python3', '-m', 'venv', folder)
  await demand(python, '-m', 'pip', 'install', '--quiet', ...tools)
  return (name) => join(folder, 'bin', name)
}

/** Makes a clean environment of an interpreter with the wheel. @returns its `python`. */
export async function installWheel(
  interpreter: string,
  wheel: string,
  into: string,
  withCryptography: boolean,
): Promise<string> {
  await demand(interpreter, '-m', 'venv', '--without-pip', into)
  const python = join(into, 'bin/python')
  const install = ['-m', 'pip', '--python', python, 'install', '--quiet']
  await demand(join(folder, 'bin/python'), ...install, '--no-index', wheel)
  if (withCryptography) await demand(join(folder, 'bin/python'), ...install, cryptography)
  return python
}

/** Returns Debian's Python, and the newest and the oldest Python of this machine, by their version strings. */
export async function findInterpreters(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<number, string>()
  const pyenv = join(homedir(), '.pyenv/versions')
  const versions = existsSync(pyenv) ? readdirSync(pyenv) : []
  const folders = [
    '/usr/bin',
    '/usr/local/bin',
    ...versions.map((version) => join(pyenv, version, 'bin')),
  ]
  for (let minor = oldest; minor <= newest; minor += 1) {
    const paths = folders.map((path) => join(path, `python3.${minor}`))
    const path = paths.find((candidate) => existsSync(candidate))
    if (path !== undefined) found.set(minor, path)
  }
  const minors = [...found.keys()]
  const chosen = new Set([
    '/usr/bin/python3',
    ...[Math.max(...minors), Math.min(...minors)].map((minor) => found.get(minor) ?? ''),
  ])
  const named = new Map<string, string>()
  for (const path of chosen) {
    const { code, output } = await run(path, ['--version'])
    if (code === 0) named.set(output.trim(), path)
  }
  return named
}
