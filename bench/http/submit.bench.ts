// Goals G3, G4 and G8: the time from a submission over HTTP to its result in the same answer (`wait=true`), with one client and
// with sixteen. It is measured with the real worker and a python hello, and with a worker that runs nothing, which shows the
// cost of everything around the run. Floors: bare `python3 hello.py` (one after another; two at once for sixteen clients,
// because there are two slots), and a bare route that inserts one durable row into the same database. The web process, the
// worker and PostgreSQL are the real ones. They share the machine's cores with the client and have served a thousand
// submissions before the measurement.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { createDatabase } from '#database'
import { createCaller } from '../../test/helper/submission.ts'
import { createBareRunner } from '../bare.ts'
import { startCluster } from '../database.ts'
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

const real = await startStack('real', 'src/worker/worker.ts')
const empty = await startStack('empty', 'bench/http/empty-worker.ts')

const bareRoute = await startBareRoute(empty.url)
const barePythons = `bare python hello, ${slots} at once`
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
    name: 'bare route, 1 client',
    iterations: scaleIterations(200),
    run: bareRoute,
  },
  {
    name: 'nothing run, 1 client',
    floor: 'bare route, 1 client',
    iterations: scaleIterations(200),
    run: empty.run,
  },
  {
    name: `bare route, ${clients} clients`,
    atOnce: clients,
    iterations: scaleIterations(800),
    run: bareRoute,
  },
  {
    name: `nothing run, ${clients} clients`,
    floor: `bare route, ${clients} clients`,
    atOnce: clients,
    iterations: scaleIterations(800),
    run: empty.run,
  },
]
report('http/submit', await measure(cases))

/** The processes with which one worker entry is measured. */
interface Stack {
  /** The address of the stack's database. */
  readonly url: string
  /** Submits one program and waits for its result. */
  readonly run: () => Promise<void>
}

/** Starts a separate database, web process and worker. */
async function startStack(name: string, workerEntry: string): Promise<Stack> {
  const url = await cluster.createDatabase(name)
  const sql = createDatabase({ url, connections: 1, name: 'bench' })
  cleanUp.defer(() => sql.end({ timeout: 5 }))
  const { key } = await createCaller(sql)
  const web = await startService('src/server/server.ts', 'web.started', {
    DATABASE_URL: url,
    PORT: '0',
  })
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
  await warmUp(run)
  return { url, run }
}

/** Starts a bare route on a stack's database. Returns a function that sends it one request. */
async function startBareRoute(url: string): Promise<() => Promise<void>> {
  const route = await startService(
    'bench/http/bare-insert.ts',
    'bare.started',
    {},
    { parameters: [url] },
  )
  cleanUp.use(route)
  const pool = new Pool(`http://127.0.0.1:${Number(route.started['port'])}`, {
    connections: clients,
  })
  cleanUp.defer(() => pool.close())
  const ask = async (): Promise<void> => {
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: '/',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ language: 'python', code: hello.python }),
    })
    await body.text()
    assert.equal(statusCode, 200)
  }
  await warmUp(ask)
  return ask
}

/** Makes calls before the measurement, because V8 optimises only code that has run often. */
async function warmUp(run: () => Promise<void>): Promise<void> {
  for (let left = scaleIterations(warmUps); left > 0; left -= clients)
    await Promise.all(Array.from({ length: clients }, run))
}
