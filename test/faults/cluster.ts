// A separate PostgreSQL for the suite. It can be stopped in every way and restarted on the same data and port, its disk can
// be filled, and a standby can take over.
import { spawnSync } from 'node:child_process'
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { findPort, startEmbeddedPostgres } from '#embedded-postgres'
import type { EmbeddedPostgres } from '#embedded-postgres'
import { mountDisk } from './disk.ts'
import type { Disk } from './disk.ts'

export interface FaultCluster {
  url(database: string): string
  readonly disk: Disk
  /**
   * Stops the server. `fast` rolls back and closes connections; `immediate` is a crash, after which the next start recovers
   * from the log.
   */
  stop(how: 'fast' | 'immediate'): Promise<void>
  start(): Promise<void>
  /** Starts the server if it has ended by itself. */
  revive(): Promise<void>
  /** Restores one server that waits for no standby, whatever state a failed strike has left. */
  repair(): Promise<void>
  /** Makes a synchronous standby; every later acknowledged commit is on both servers. */
  addStandby(): Promise<void>
  /** Crashes the server; the standby takes over its port, first for readers only. */
  failOver(): Promise<void>
  /** Promotes the standby that has taken over to a normal server. */
  promote(): Promise<void>
  /** Stops everything and removes the data. */
  remove(): Promise<void>
}

const signals = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const
// Room for the data, its log, and a copy of both while there is a standby.
const diskMebibytes = 1024
const standbySeconds = 20
const portTries = 10

/**
 * Starts the cluster. fsync is off, because nothing needs to survive a crash of the machine, and a crash of the processes
 * loses nothing.
 */
export async function startFaultCluster(
  maxConnections: number,
  onLog: (text: string) => void,
): Promise<FaultCluster> {
  const root = await mkdtemp(join(tmpdir(), 'runledger-faults-'))
  const disk = mountDisk(join(root, 'disk'), diskMebibytes)
  const port = await findPort(0)
  const settings = {
    fsync: 'off',
    max_connections: String(maxConnections),
    min_wal_size: '32MB',
    max_wal_size: '96MB',
    // The log that a standby needs after its copy must still exist.
    wal_keep_size: '128MB',
  }
  let directory = makePlace(disk, 1)
  let server: EmbeddedPostgres | null = null
  let standby: { readonly directory: string; readonly server: EmbeddedPostgres } | null = null
  let places = 1

  const start = async (): Promise<void> => {
    for (let tries = 1; ; tries += 1) {
      server = await startEmbeddedPostgres({ directory, port, settings, onLog })
      // The clients know no other port, so the server must not silently use another one.
      if (new URL(server.url('postgres')).port === String(port)) return
      await stop('fast')
      if (tries === portTries) throw new Error(`port ${port} is another's`)
      await sleep(500)
    }
  }
  const stop = async (how: 'fast' | 'immediate'): Promise<void> => {
    if (server === null) return
    await end(directory, how)
    await server.stop()
    server = null
  }
  await start()
  const url = server!.url('postgres')

  async function withAdmin<T>(at: string, work: (sql: Database) => Promise<T>): Promise<T> {
    const sql = createDatabase({
      url: at,
      connections: 1,
      name: 'faults admin',
      statementSeconds: 60,
    })
    try {
      return await work(sql)
    } finally {
      await sql.end({ timeout: 2 })
    }
  }

  async function endStandby(): Promise<void> {
    if (standby === null) return
    await end(standby.directory, 'immediate')
    await standby.server.stop()
    standby = null
  }

  async function revive(): Promise<void> {
    if (readPid(directory) !== null) return
    await server?.stop()
    await start()
  }

  return {
    url: (database) => url.replace(/\/postgres$/, `/${database}`),
    disk,
    stop,
    start,
    revive,
    async repair() {
      await endStandby()
      await revive()
      await withAdmin(url, async (sql) => {
        const [{ isStandby } = {}] = await sql`select pg_is_in_recovery() as "isStandby"`
        if (isStandby === true) await sql`select pg_promote(true, 30)`
        await sql`alter system reset synchronous_standby_names`
        await sql`select pg_reload_conf()`
      })
    },
    async addStandby() {
      places += 1
      const place = makePlace(disk, places)
      const from = new URL(url)
      await withAdmin(url, async (sql) => {
        await sql`select pg_backup_start('standby', true)`
        copyData(directory, place)
        const [label] = await sql`select labelfile from pg_backup_stop(false)`
        const { uid, gid } = statSync(join(place, 'data'))
        for (const [name, text] of [
          ['backup_label', label?.['labelfile'] as string],
          ['standby.signal', ''],
        ] as const) {
          const file = join(place, 'data', name)
          writeFileSync(file, text, { mode: 0o600 })
          chownSync(file, uid, gid)
        }
      })
      const primary = `host=127.0.0.1 port=${port} user=${from.username} password=${from.password}`
      const started = await startEmbeddedPostgres({
        directory: place,
        port: 0,
        settings: { ...settings, primary_conninfo: primary },
        onLog,
      })
      standby = { directory: place, server: started }
      await withAdmin(url, async (sql) => {
        // Only once the standby streams, because a commit would otherwise wait for a standby that never arrives.
        await waitForStandby(sql, 'streaming')
        await sql`alter system set synchronous_standby_names = '*'`
        await sql`select pg_reload_conf()`
        await waitForStandby(sql, 'sync')
      })
    },
    async failOver() {
      if (standby === null) throw new Error('there is no standby')
      const [left, next] = [directory, standby]
      await stop('immediate')
      await end(next.directory, 'fast')
      await next.server.stop()
      directory = next.directory
      standby = null
      await start()
      rmSync(left, { recursive: true })
    },
    async promote() {
      await withAdmin(url, (sql) => sql`select pg_promote(true, 30)`)
    },
    async remove() {
      await stop('immediate')
      await endStandby()
      disk.unmount()
      await rm(root, { recursive: true, force: true })
    },
  }
}

function makePlace(disk: Disk, number: number): string {
  const place = join(disk.directory, `server-${number}`)
  mkdirSync(place)
  return place
}

/** @throws when the standby does not reach the state within the seconds of a strike. */
async function waitForStandby(sql: Database, state: 'streaming' | 'sync'): Promise<void> {
  const endsAt = performance.now() + standbySeconds * 1000
  for (;;) {
    const [replica] = await sql`select state, sync_state from pg_stat_replication`
    if (replica?.['state'] === state || replica?.['sync_state'] === state) return
    if (performance.now() > endsAt) throw new Error(`the standby is not ${state}`)
    await sleep(50)
  }
}

/** Copies a running server's files. The server's log repairs what changes during the copy. */
function copyData(from: string, to: string): void {
  const script =
    'tar -C "$1" --exclude=./data/postmaster.* --ignore-failed-read -cf - data | tar -C "$2" -xpf -'
  const { status, stderr } = spawnSync('sh', ['-c', script, 'sh', from, to])
  if (status !== 0) throw new Error(`the data could not be copied: ${stderr.toString()}`)
  rmSync(join(to, 'data/postmaster.pid'), { force: true })
  copyFileSync(join(from, 'password'), join(to, 'password'))
}

async function end(directory: string, how: 'fast' | 'immediate'): Promise<void> {
  const pid = readPid(directory)
  if (pid === null) return
  process.kill(pid, signals[how])
  while (readPid(directory) !== null) await sleep(20)
}

/** Returns the process id of the server with its data there; null when none runs. */
function readPid(directory: string): number | null {
  const file = join(directory, 'data/postmaster.pid')
  if (!existsSync(file)) return null
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0])
  try {
    process.kill(pid, 0)
    return pid
  } catch {
    return null
  }
}
