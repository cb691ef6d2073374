// Workers on hosts of their own against one PostgreSQL, and those who submit. The workers are the real ones with the
// executor that runs nothing (http/empty-worker.ts): what is measured is how work finds them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Caller } from '#account'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { createCaller } from '../../test/helper/submission.ts'
import { startCluster } from '../database.ts'
import { startService } from '../http/service.ts'
import { createNetwork } from './network.ts'

/** One PostgreSQL and the workers that have been added. */
export interface Fleet extends AsyncDisposable {
  readonly sql: Database
  /** The database's address for this process. */
  readonly url: string
  readonly caller: Caller
  /** Process ids of the workers. */
  readonly workerPids: readonly number[]
  /** Starts one worker on a host of its own. */
  addWorker(slots: number, sleepMilliseconds: number): Promise<void>
}

/** @param connections of the bench's own to the database. */
export async function startFleet(connections: number): Promise<Fleet> {
  await using cleanUp = new AsyncDisposableStack()
  const directory = mkdtempSync(join(tmpdir(), 'runledger-bench-'))
  cleanUp.defer(() => rmSync(directory, { recursive: true, force: true }))
  const network = cleanUp.use(createNetwork())
  const cluster = cleanUp.use(
    await startCluster({
      settings: { listen_addresses: `127.0.0.1,${network.address}`, max_connections: '300' },
      network: network.range,
    }),
  )
  const url = await cluster.createDatabase('fleet')
  const sql = createDatabase({ url, connections, name: 'bench', statementSeconds: 60 })
  cleanUp.defer(() => sql.end({ timeout: 5 }))
  const caller = await createCaller(sql)
  const workerUrl = new URL(url)
  workerUrl.hostname = network.address

  const workerPids: number[] = []
  const workers = new AsyncDisposableStack()
  cleanUp.use(workers)
  const whole = cleanUp.move()
  return {
    sql,
    url,
    caller,
    workerPids,
    async addWorker(slots, sleepMilliseconds) {
      const { within } = await network.addHost()
      const worker = await startService(
        'bench/http/empty-worker.ts',
        'worker.started',
        {
          DATABASE_URL: workerUrl.href,
          SLOTS: String(slots),
          CACHE_DIRECTORY: join(directory, String(workerPids.length)),
        },
        { within, parameters: [String(sleepMilliseconds)] },
      )
      workers.use(worker)
      workerPids.push(Number(worker.started['pid']))
    },
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  }
}
