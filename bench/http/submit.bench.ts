// Goals G3, G4 and G8: from a submission over HTTP to its result in the same answer (`wait=true`), with one client and with
// sixteen: once with the real worker and a python hello, once with a worker that runs nothing, which leaves the way
// around the run. Floors: bare `python3 hello.py` (one after another; two at once for the sixteen, as there are two slots) and one row
// inserted durably (by one connection, by sixteen). The web process, the worker and PostgreSQL are the real ones; all
// share the machine's cores with the client, and have served a thousand submissions before.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { createCaller } from '../../test/helper/submission.ts'
import { createBareRunner } from '../bare.ts'
import { insertDurably, startCluster } from '../database.ts'
import { hello, pythonCommand } from '../executor/hello.ts'
import { measure } from '../measure.ts'
import type { Case } from '../measure.ts'
import { report, scaleIterations } from '../report.ts'
import { createClient, startService } from './service.ts'

const clients = 16
const slots = 2
const warmUps = 1000

using bare = await createBareRunner()
await using cleanUp = new AsyncDisposableStack()
const directory = mkdtempSync(join(tmpdir(), 'runledger-bench-'))
cleanUp.defer(() => rmSync(directory, { recursive: true, force: true }))
const cluster = cleanUp.use(await startCluster())

const real = await startStack('real', 'src/worker.ts')
const empty = await startStack('empty', 'bench/http/empty-worker.ts')

const body = Buffer.from(hello.python)
const [single, many] = [empty.connect(1), empty.connect(clients)]
const [barePythons, bareInserts] = [
  `bare python hello, ${slots} at once`,
  `bare insert, ${clients} connections`,
]
const cases: Case[] = [
  {
    name: 'bare python hello',
    iterations: scaleIterations(60),
    batch: bare.prepare(pythonCommand),
  },
  {
    name: 'python hello, 1 client',
    floor: 'bare python hello',
    iterations: scaleIterations(120),
    run: real.run,
  },
  {
    name: barePythons,
    atOnce: slots,
    iterations: scaleIterations(80),
    batch: bare.prepare({ ...pythonCommand, atOnce: slots }),
  },
  {
    name: `python hello, ${clients} clients`,
    floor: barePythons,
    atOnce: clients,
    iterations: scaleIterations(192),
    run: real.run,
  },
  {
    name: 'bare insert',
    iterations: scaleIterations(200),
    run: () => insertDurably(single, body),
  },
  {
    name: 'nothing run, 1 client',
    floor: 'bare insert',
    iterations: scaleIterations(200),
    run: empty.run,
  },
  {
    name: bareInserts,
    atOnce: clients,
    iterations: scaleIterations(800),
    run: () => insertDurably(many, body),
  },
  {
    name: `nothing run, ${clients} clients`,
    floor: bareInserts,
    atOnce: clients,
    iterations: scaleIterations(800),
    run: empty.run,
  },
]
report('http/submit', await measure(cases))

/** What one worker entry is measured with. */
interface Stack {
  readonly connect: (connections: number) => Database
  /** Submits one program and waits for its end. */
  readonly run: () => Promise<void>
}

/** A database, a web process and a worker, each of its own. */
async function startStack(name: string, workerEntry: string): Promise<Stack> {
  const url = await cluster.createDatabase(name)
  const connect = (connections: number): Database => {
    const sql = createDatabase({ url, connections, name: 'bench' })
    cleanUp.defer(() => sql.end({ timeout: 5 }))
    return sql
  }
  const { key } = await createCaller(connect(1))
  const web = await startService('src/server.ts', 'web.started', { DATABASE_URL: url, PORT: '0' })
  cleanUp.use(web)
  const worker = await startService(workerEntry, 'worker.started', {
    DATABASE_URL: url,
    SLOTS: String(slots),
    FIRST_UID: String(120_000 + (process.pid % 5000) * 8),
    CACHE_DIRECTORY: join(directory, name),
  })
  cleanUp.use(worker)
  const client = cleanUp.use(createClient(Number(web.started['port']), key, clients))
  const run = (): Promise<void> => client.run(hello.python, hello.stdout)
  // A service that was started a moment ago is not what is asked about: V8 compiles for speed what has run often.
  for (let left = scaleIterations(warmUps); left > 0; left -= clients)
    await Promise.all(Array.from({ length: clients }, run))
  return { connect, run }
}
