// Third-party clients, installed beside the project as their users would install them.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** The folder of the installed clients. */
export const folder = resolve(import.meta.dirname, '../../.data/doors')

/** Exact versions, so that a new release of a client is tried on purpose. */
const packages = {
  python: [
    'ultra-piston==1.0.1',
    'sandbox-fusion==0.3.7',
    'requests==2.32.5',
    'judge0==0.0.8',
    'judge0-client==0.4.0',
  ],
  /** Installed without dependencies, which would be gigabytes; only one of its modules is used. */
  alone: ['verl==0.9.1'],
  npm: [
    'piston-client@1.0.2',
    'piston-api@1.0.1',
    '@modelcontextprotocol/sdk@1.32.2',
    '@modelcontextprotocol/client@2.4.0',
    '@modelcontextprotocol/ext-tasks@0.2.2',
    '@modelcontextprotocol/conformance@0.2.0-alpha.12',
  ],
} as const

/** Installs the clients, unless an earlier test file has installed these: pip and npm take seconds to see that. */
export async function installClients(): Promise<void> {
  const record = join(folder, 'installed.json')
  const wanted = JSON.stringify(packages)
  if (existsSync(record) && (await readFile(record, 'utf8')) === wanted) return
  await mkdir(folder, { recursive: true })
  const python = join(folder, 'python')
  if (!existsSync(join(python, 'bin/python'))) await run('python3', ['-m', 'venv', python])
  const install = [join(python, 'bin/python'), ['-m', 'pip', 'install', '--quiet']] as const
  await run(install[0], [...install[1], ...packages.python])
  await run(install[0], [...install[1], '--no-deps', ...packages.alone])
  const manifest = join(folder, 'package.json')
  if (!existsSync(manifest)) await writeFile(manifest, '{"private": true}')
  await run('npm', ['install', '--silent', '--no-audit', '--no-fund', ...packages.npm], {
    cwd: folder,
  })
  await writeFile(record, wanted)
}

/** Runs a script with the clients, and returns the JSON that it prints last. */
export async function ask(
  language: 'python' | 'node',
  script: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const program = language === 'python' ? join(folder, 'python/bin/python') : process.execPath
  const [flag, source] =
    language === 'python' ? ['-c', script] : ['--input-type=module', `--eval=${script}`]
  const { stdout } = await run(program, [flag, source], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, ...environment },
    timeout: 120_000,
  })
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? 'null') as unknown
}

const jobe = {
  commit: 'cffff99685a78a2e13b47a5288e6fa87a1abe40a',
  sha256: '76a0494511f8183df4ecda34fa789dd9480e42426de84a50d707c728d2e3287f',
}

/**
 * Fetches the test program of Jobe, which no registry has.
 * @returns its path; null when it cannot be fetched.
 */
export async function fetchJobeTest(): Promise<string | null> {
  await mkdir(folder, { recursive: true })
  const file = join(folder, `testsubmit-${jobe.commit.slice(0, 7)}.py`)
  if (!existsSync(file)) {
    const url = `https://raw.githubusercontent.com/trampgeek/jobe/${jobe.commit}/testsubmit.py`
    const answer = await fetch(url, { signal: AbortSignal.timeout(30_000) }).catch(() => null)
    if (answer?.ok !== true) return null
    await writeFile(file, await answer.bytes())
  }
  const hash = createHash('sha256').update(await readFile(file))
  if (hash.digest('hex') !== jobe.sha256) throw new Error(`${file} is not the pinned one`)
  return file
}
