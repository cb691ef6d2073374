// Runs the test suite: one PostgreSQL for all files, then tap with whatever arguments were given.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { startTestCluster } from './helper/database.ts'

const cluster = await startTestCluster()
const tap = spawn('tap', process.argv.slice(2), {
  stdio: 'inherit',
  env: { ...process.env, TEST_CLUSTER_URL: cluster.url },
})
const [code] = (await once(tap, 'exit')) as [number | null]
await cluster.stop()
process.exitCode = code ?? 1
