// Debian's PostgreSQL with a WAL archive. pg_basebackup backs it up while it runs; it can be killed and restored to a moment
// in between.
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { appendFileSync, chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs' // prettier-ignore
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { findPort } from '#embedded-postgres'
import { findLibraries, findTree } from '../helper/packages.ts'

export interface ArchivedServer {
  /** The URL of the database `postgres`; the same after a restore. */
  readonly url: string
  /** Makes a base backup of the running server. */
  backUp(): void
  /** Resolves when everything written until now is in the archive. */
  archive(sql: Database): Promise<void>
  /** Kills the server without a shutdown. */
  kill(): Promise<void>
  /** Starts a server from the backup and the archive, up to a time that PostgreSQL understands. */
  restore(time: string): Promise<void>
}

// PostgreSQL refuses root.
const user = { uid: 65_534, gid: 65_534 }
const programs = 'usr/lib/postgresql/15/bin'

/** Starts the server. It and its files are removed when the test has ended. */
export async function startArchivedServer(t: Test): Promise<ArchivedServer> {
  const found = findTree(`${programs}/pg_basebackup`, 'postgres', ['postgresql-15', 'postgresql-client-15']) // prettier-ignore
  const directory = mkdtempSync('/var/tmp/runledger-restore-')
  chmodSync(directory, 0o755)
  const tree = found === '/' ? found : join(directory, 'tree')
  // A directory that PostgreSQL's user may read.
  if (tree !== found) cpSync(found, tree, { recursive: true, verbatimSymlinks: true })
  const [data, archive, backup] = ['data', 'archive', 'backup'].map((name) => {
    const path = join(directory, name)
    mkdirSync(path, { mode: 0o700 })
    chownSync(path, user.uid, user.gid)
    return path
  }) as [string, string, string]
  const environment = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', ...(tree !== '/' && { LD_LIBRARY_PATH: findLibraries(tree) }) } // prettier-ignore
  const words = (program: string, ...given: string[]): string[] => [
    '--pdeathsig=SIGQUIT',
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    '--clear-groups',
    '--',
    join(tree, programs, program),
    ...given,
  ]
  const run = (program: string, ...given: string[]): void => {
    execFileSync('setpriv', words(program, ...given), { cwd: directory, env: environment, stdio: ['ignore', 'ignore', 'inherit'] }) // prettier-ignore
  }

  const password = randomBytes(12).toString('hex')
  const passwordFile = join(directory, 'password')
  writeFileSync(passwordFile, password)
  run('initdb', `--pgdata=${data}`, '--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--encoding=UTF8', '--locale=C.UTF-8') // prettier-ignore
  const port = await findPort(0)
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '100',
    wal_level: 'replica',
    archive_mode: 'on',
    archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f`,
    // The machine itself does not crash in this test.
    fsync: 'off',
  }
  let running: ChildProcess

  async function start(folder: string): Promise<void> {
    const given = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const server = spawn('setpriv', words('postgres', '-D', folder, ...given), {
      cwd: directory,
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    running = server
    let said = ''
    await new Promise<void>((done, fail) => {
      server.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString()
        if (/database system is ready to accept connections/.test(said)) done()
      })
      server.once('exit', () => fail(new Error(`PostgreSQL did not start:\n${said}`)))
    })
  }
  async function kill(): Promise<void> {
    if (running.exitCode !== null || running.signalCode !== null) return
    running.kill('SIGQUIT')
    await once(running, 'exit')
  }
  t.teardown(async () => {
    await kill()
    rmSync(directory, { recursive: true, force: true })
  })
  await start(data)
  return {
    url,
    kill,
    backUp: () =>
      run('pg_basebackup', `--dbname=${url}`, `--pgdata=${backup}`, '--checkpoint=fast'),
    async archive(sql) {
      const [{ file }] = await sql<[{ file: string }]>`
        select pg_walfile_name(pg_current_wal_lsn()) as file`
      await sql`select pg_switch_wal()`
      for (;;) {
        const [row] = await sql`select last_archived_wal >= ${file} as done from pg_stat_archiver`
        if (row?.['done'] === true) return
        await sleep(50)
      }
    },
    async restore(time) {
      appendFileSync(
        join(backup, 'postgresql.auto.conf'),
        [
          `restore_command = 'cp ${archive}/%f %p'`,
          `recovery_target_time = '${time}'`,
          `recovery_target_action = 'promote'\n`,
        ].join('\n'),
      )
      writeFileSync(join(backup, 'recovery.signal'), '')
      await start(backup)
    },
  }
}

/** Opens a connection pool separate from the service's. */
export function open(url: string): Database {
  return createDatabase({ url, connections: 2, name: 'restore', statementSeconds: 60 })
}
