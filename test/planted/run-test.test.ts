// A test that fails under a planted fault leaves neither processes nor databases to the next one.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createDatabase } from '#database'
import { startTestCluster } from '../helper/database.ts'
import { makeDirectory } from '../helper/directory.ts'
import { runTest } from './run-test.ts'

const cluster = await startTestCluster({ template: false })
t.teardown(() => cluster.stop())
const directory = makeDirectory(t)
const sql = createDatabase({ url: cluster.url, connections: 1, name: 'test' })
t.teardown(() => sql.end())

/** Returns false also for a zombie. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

t.test('what a test leaves ends with it', async (t) => {
  await sql`create database test_000000000000`
  await sql`create database testing`
  const file = join(directory, 'leaves.test.mjs')
  writeFileSync(
    file,
    `import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
const child = spawn('sleep', ['1000'], { stdio: 'ignore' })
writeFileSync(${JSON.stringify(join(directory, 'pid'))}, String(child.pid))
process.exit(1)`,
  )
  const { signal } = new AbortController()
  t.match(await runTest(directory, file, cluster.url, signal), { isGreen: false })
  const pid = Number(readFileSync(join(directory, 'pid'), 'utf8'))
  t.ok(pid > 0)
  while (isAlive(pid)) await delay(5)
  const rows = await sql<{ name: string }[]>`select datname as name from pg_database order by 1`
  const names = rows.map(({ name }) => name)
  t.strictSame(names, ['postgres', 'template0', 'template1', 'testing'])
})
