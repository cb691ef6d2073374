// The whole service for a bench that runs Python: a database, a web process, a worker.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase } from '#database'
import type { Database, DatabaseOptions } from '#database'
import { startCluster } from '../database.ts'
import { startService } from './service.ts'
import type { Service } from './service.ts'

/** A service that runs; disposing of it ends it. */
export interface WholeService extends AsyncDisposable {
  readonly sql: Database
  /** The web process's. */
  readonly port: number
  /** May be ended before the rest. */
  readonly worker: Service
  /** Starts another one with the same settings, which ends with all. */
  startWorker(): Promise<Service>
}

/** Settings of the processes beside what every bench sets. */
export interface WholeServiceOptions {
  readonly web?: Readonly<Record<string, string>>
  readonly worker?: Readonly<Record<string, string>>
  /** Of the bench itself; a statement of two seconds and two connections when left out. */
  readonly database?: Partial<Pick<DatabaseOptions, 'connections' | 'statementSeconds'>>
}

/** @param name of the database. */
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
