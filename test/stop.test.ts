// Told to stop while the database is away: both processes end before the platform kills them, 30 s after the signal.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'
import t from 'tap'
import { findPort } from '#embedded-postgres'
import { createTestDatabase } from './helper/database.ts'
import { startTcpProxy } from './helper/tcp-proxy.ts'
import { startWorkerProcess } from './helper/worker.ts'

// The processes give themselves 27 s by their own clocks; the rest is for a slow machine.
const mostSeconds = 60
const { url, drop } = await createTestDatabase()
t.teardown(drop)
t.setTimeout(240_000)

async function secondsToEnd(child: ChildProcess): Promise<number> {
  const startedAt = performance.now()
  const ended = new Promise((done) => child.once('exit', done))
  child.kill('SIGTERM')
  child.kill('SIGTERM')
  await ended
  return (performance.now() - startedAt) / 1000
}

for (const outage of ['stop', 'freeze'] as const) {
  t.test(`a worker ends although the database is away (${outage})`, async (t) => {
    const proxy = await startTcpProxy(url)
    t.teardown(() => proxy.close())
    const { child } = await startWorkerProcess(t, proxy.url)
    await proxy[outage]()
    const seconds = await secondsToEnd(child)
    t.comment(`${seconds.toFixed(1)} s`)
    t.ok(seconds < mostSeconds)
  })

  t.test(`a web process ends although the database is away (${outage})`, async (t) => {
    const proxy = await startTcpProxy(url)
    t.teardown(() => proxy.close())
    const child = spawn('node', ['src/server.ts'], {
      cwd: resolve(import.meta.dirname, '..'),
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: proxy.url,
        PORT: String(await findPort(0)),
      },
    })
    t.teardown(() => child.kill('SIGKILL'))
    await new Promise((done) => child.stdout.once('data', done))
    await proxy[outage]()
    const seconds = await secondsToEnd(child)
    t.comment(`${seconds.toFixed(1)} s`)
    t.ok(seconds < mostSeconds)
  })
}

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
