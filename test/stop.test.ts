// Processes that get SIGTERM end before the platform kills them 30 s later, even when the database is away or clients keep
// sending requests.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { startFaultProxy } from './faults/proxy.ts'
import { bareEnvironment } from './helper/bare-environment.ts'
import { createTestDatabase, openTestDatabase } from './helper/database.ts'
import { startTcpProxy } from './helper/tcp-proxy.ts'
import { startWebProcess } from './helper/web.ts'
import { startWorkerProcess } from './helper/worker.ts'

// The processes exit after 27 s at the latest; the rest is for a slow machine.
const mostSeconds = 60
// A stopping worker waits 7 s for a database that does not answer. One that did not would exit after 27 s, never earlier.
const workerSeconds = 27
const { url } = await openTestDatabase(t)
// The tests run in parallel, because their processes mostly wait.
t.jobs = 4
const atOnce = { buffered: true }

async function secondsToEnd(child: ChildProcess): Promise<number> {
  const startedAt = performance.now()
  const ended = new Promise((done) => child.once('exit', done))
  child.kill('SIGTERM')
  child.kill('SIGTERM')
  await ended
  return (performance.now() - startedAt) / 1000
}

for (const outage of ['stop', 'freeze'] as const) {
  t.test(`a worker ends although the database is away (${outage})`, atOnce, async (t) => {
    const proxy = await startTcpProxy(url)
    t.teardown(() => proxy.close())
    const { child } = await startWorkerProcess(t, proxy.url)
    await proxy[outage]()
    const seconds = await secondsToEnd(child)
    t.comment(`${seconds.toFixed(1)} s`)
    t.ok(seconds < workerSeconds)
  })

  t.test(`a web process ends although the database is away (${outage})`, atOnce, async (t) => {
    const proxy = await startTcpProxy(url)
    t.teardown(() => proxy.close())
    const { child } = await startWebProcess(t, proxy.url)
    await proxy[outage]()
    const seconds = await secondsToEnd(child)
    t.comment(`${seconds.toFixed(1)} s`)
    t.ok(seconds < mostSeconds)
  })
}

t.test('a web process ends although nobody answers where it listens', atOnce, async (t) => {
  const proxy = await startFaultProxy(url)
  t.teardown(() => proxy.close())
  const { child } = await startWebProcess(t, proxy.url)
  proxy.silence(/./, { listening: true })
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  t.strictSame(await ended, [0, null])
})

t.test('a worker whose PostgreSQL was stopped ends', atOnce, async (t) => {
  const { url: ownUrl, drop: stopServer } = await createTestDatabase({ ownServer: true })
  const { child } = await startWorkerProcess(t, ownUrl)
  await stopServer()
  const seconds = await secondsToEnd(child)
  t.comment(`${seconds.toFixed(1)} s`)
  t.ok(seconds < workerSeconds)
})

t.test('a web process that ends says so to who asks on, and fails nobody', async (t) => {
  const { child, port } = await startWebProcess(t, url)
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  let answered = 0
  /** Sends requests on one connection until an answer closes it. @returns what went wrong, or null. */
  const ask = async (): Promise<string | null> => {
    for (;;) {
      const response = await new Promise<IncomingMessage>((done, fail) => {
        get({ agent, port, host: '127.0.0.1', path: '/healthz' }, done).once('error', fail)
      })
      await response.resume().toArray()
      if (response.statusCode !== 200) return `${response.statusCode}`
      if (response.headers.connection === 'close') return null
      answered += 1
    }
  }
  const asking = Array.from({ length: 8 }, () => ask().catch(String))
  while (answered < 100) await delay(10)
  const seconds = await secondsToEnd(child)
  t.strictSame(await Promise.all(asking), asking.map(() => null)) // prettier-ignore
  t.comment(`${seconds.toFixed(1)} s`)
  // The web process closes connections that stay open after 20 s, never earlier.
  t.ok(seconds < 20)
})

t.test('a worker waits at its start for a database that is away', async (t) => {
  const proxy = await startTcpProxy(url)
  t.teardown(() => proxy.close())
  await proxy.stop()
  const starting = startWorkerProcess(t, proxy.url)
  const early = await Promise.race([starting, new Promise((done) => setTimeout(done, 6000))])
  t.equal(early, undefined, 'it waits, and lives')
  await proxy.restore()
  const worker = await starting
  t.equal(worker.child.exitCode, null)
})

t.test('a web process refuses a certificate that is none before it listens', async (t) => {
  const child = spawn('node', ['src/server/server.ts'], {
    cwd: resolve(import.meta.dirname, '..'),
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...bareEnvironment,
      DATABASE_URL: url,
      TLS_CERT: import.meta.filename,
      TLS_KEY: import.meta.filename,
    },
  })
  t.teardown(() => child.kill('SIGKILL'))
  const told = Buffer.concat(await child.stderr.toArray()).toString()
  t.match(told, /TLS_CERT, TLS_KEY: /)
  t.notMatch(told, /\n +at /)
  if (child.exitCode === null) await new Promise((done) => child.once('exit', done))
  t.equal(child.exitCode, 78)
})
