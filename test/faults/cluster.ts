// A PostgreSQL of the suite's own that can be stopped in every way and started again on the same data and port.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findPort, startEmbeddedPostgres } from '#embedded-postgres'
import type { EmbeddedPostgres } from '#embedded-postgres'

export interface FaultCluster {
  url(database: string): string
  /** `fast` rolls back and says goodbye; `immediate` is a crash of the server: the next start recovers from the log. */
  stop(how: 'fast' | 'immediate'): Promise<void>
  start(): Promise<void>
  /** Stops it and removes its data. */
  remove(): Promise<void>
}

const signals = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const

/** Starts it. Nothing it writes needs to outlive the machine, so fsync is off; a crash of its processes loses nothing. */
export async function startFaultCluster(maxConnections: number): Promise<FaultCluster> {
  const directory = await mkdtemp(join(tmpdir(), 'runledger-faults-'))
  const port = await findPort(0)
  let server: EmbeddedPostgres | null = null

  const start = async (): Promise<void> => {
    server = await startEmbeddedPostgres({
      directory,
      port,
      settings: { fsync: 'off', max_connections: String(maxConnections) },
    })
  }
  const stop = async (how: 'fast' | 'immediate'): Promise<void> => {
    if (server === null) return
    const pid = Number(readFileSync(join(directory, 'data/postmaster.pid'), 'utf8').split('\n')[0])
    process.kill(pid, signals[how])
    while (isRunning(pid)) await sleep(20)
    await server.stop()
    server = null
  }
  await start()
  const url = server!.url('postgres')
  return {
    url: (database) => url.replace(/\/postgres$/, `/${database}`),
    stop,
    start,
    async remove() {
      await stop('immediate')
      await rm(directory, { recursive: true, force: true })
    },
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
