// Starts the whole service for a bench that runs Python: a database, a web process and a worker.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase } from '#database'
import type { Database, DatabaseOptions } from '#database'
import { startCluster } from '../database.ts'
import { startService } from './service.ts'
import type { Service } from './service.ts'

/** A running service. Disposing of it stops all of its processes. */
export interface WholeService extends AsyncDisposable {
  readonly sql: Database
  /** The web process's port. */
  readonly port: number
  /** The worker. A bench may stop it before the rest. */
  readonly worker: Service
  /** Starts another worker with the same settings, which is stopped with the service. */
  startWorker(): Promise<Service>
}

/** Settings of the processes, in addition to those that every bench uses. */
export interface WholeServiceOptions {
  readonly web?: Readonly<Record<string, string>>
  readonly worker?: Readonly<Record<string, string>>
  /** For the bench's connections; two connections and two seconds per statement when left out. */
  readonly database?: Partial<Pick<DatabaseOptions, 'connections' | 'statementSeconds'>>
}

/** Starts the processes. @param name of the database. */
export async function startWholeService(
  name: string,
  options: WholeServiceOptions = {},
): Promise<WholeService> {
  await using cleanUp = new AsyncDisposableStack()
  const cluster = cleanUp.use(await startCluster())
  const url = await cluster.createDatabase(name)
  const sql = createDatabase({ url, connections: 2, name: 'bench', ...options.database })
  cleanUp.defer(() => sql.end({ timeout: 5 }))
  const directory = mkdtempSync(join(tmpdir(), 'runledger-bench-'))
  cleanUp.defer(() => rmSync(directory, { recursive: true, force: true }))
  const web = await startService('src/server/server.ts', 'web.started', {
    DATABASE_URL: url,
    PORT: '0',
    ...options.web,
  })
  cleanUp.use(web)
  const launchWorker = (): Promise<Service> =>
    startService('src/worker/worker.ts', 'worker.started', {
      DATABASE_URL: url,
      SLOTS: '1',
      CACHE_DIRECTORY: directory,
      ...options.worker,
    })
  const worker = cleanUp.use(await launchWorker())
  const all = cleanUp.move()
  return {
    sql,
    port: Number(web.started['port']),
    worker,
    startWorker: async () => all.use(await launchWorker()),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
