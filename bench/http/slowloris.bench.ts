// Measures a healthy client's answers while 1,000 connections stall: half in the headers, half in the body, each opened again
// when the server closes it. Floor: the same client alone. The bench fails when a bound of the contract is exceeded.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { createDatabase } from '#database'
import { createCaller } from '../../test/helper/submission.ts'
import { startCluster } from '../database.ts'
import { measure } from '../measure.ts'
import { isQuick, report, scaleIterations } from '../report.ts'
import { startService } from './service.ts'

const stalledConnections = isQuick ? 200 : 1000
// The contract's bounds.
const ratioBound = 2
const closedWithinSeconds = 15
// The bench watches longer than the bound, so that a connection that is closed late counts as late, not as never closed.
const watchedSeconds = closedWithinSeconds + 3

await using cleanUp = new AsyncDisposableStack()
const cluster = cleanUp.use(await startCluster())
const url = await cluster.createDatabase('slowloris')
const sql = createDatabase({ url, connections: 1, name: 'bench' })
cleanUp.defer(() => sql.end({ timeout: 5 }))
const { key } = await createCaller(sql)
const web = await startService('src/server/server.ts', 'web.started', {
  DATABASE_URL: url,
  PORT: '0',
})
cleanUp.use(web)
const port = Number(web.started['port'])
const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1 })
cleanUp.defer(() => pool.close())

/** The open stalled connections, and when each was opened. */
const stalled = new Map<Socket, number>()
const lifetimes: number[] = []
let wanted = 0
cleanUp.defer(closeStalled)

const iterations = scaleIterations(400)
const rows = await measure([
  { name: 'healthy client alone', iterations, prepare: closeStalled, run: askLanguages },
  {
    name: `healthy client, ${stalledConnections} stalled`,
    floor: 'healthy client alone',
    iterations,
    prepare: openStalled,
    run: askLanguages,
  },
])
await openStalled()
await sleep(watchedSeconds * 1000)
const [alone, beside] = rows
const ratio = (beside?.p99 ?? 0) / (alone?.p99 ?? 1)
const ages = [...stalled.values()].map((openedAt) => performance.now() - openedAt)
const longest = Math.max(...lifetimes, ...ages) / 1000
report('http/slowloris', rows, {
  notes: [
    `p99 beside the stalled is ${ratio.toFixed(2)} times the p99 alone; the contract says ${ratioBound}`,
    `${lifetimes.length} stalled connections were closed, none was open for more than ${longest.toFixed(1)} s; the contract says ${closedWithinSeconds} s`,
  ],
  failures: [
    ...(lifetimes.length >= stalledConnections
      ? []
      : [`only ${lifetimes.length} stalled connections were closed`]),
    // In a quick run, with few calls and connections, neither figure means anything.
    ...(isQuick || ratio <= ratioBound
      ? []
      : [`p99 beside the stalled is more than ${ratioBound} times the p99 alone`]),
    ...(isQuick || longest <= closedWithinSeconds
      ? []
      : [`a stalled connection was open for more than ${closedWithinSeconds} s`]),
  ],
})

async function askLanguages(): Promise<void> {
  const { statusCode, body } = await pool.request({
    method: 'GET',
    path: '/api/languages',
    headers: { 'X-API-Key': key },
  })
  assert.equal(statusCode, 200, await body.text())
}

/** Opens the stalled connections and resolves when all are connected. */
async function openStalled(): Promise<void> {
  wanted = stalledConnections
  while (stalled.size < wanted) openOne()
  while (![...stalled.keys()].every(({ readyState }) => readyState === 'open')) await sleep(20)
  // After this answer the server has also accepted all connections and read what they sent.
  await askLanguages()
}

async function closeStalled(): Promise<void> {
  wanted = 0
  for (const socket of stalled.keys()) socket.destroy()
  while (stalled.size > 0) await sleep(20)
  await askLanguages()
}

function openOne(): void {
  const socket = connect(port, '127.0.0.1')
  const request =
    stalled.size % 2 === 0
      ? 'GET /api/languages HTTP/1.1\r\nHost: x\r\nX-Stalled: '
      : `POST /api/submit HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`
  stalled.set(socket, performance.now())
  socket.on('connect', () => {
    stalled.set(socket, performance.now())
    socket.write(request)
  })
  socket.on('error', () => {})
  socket.resume().on('end', () => lifetimes.push(performance.now() - (stalled.get(socket) ?? 0)))
  socket.on('close', () => {
    stalled.delete(socket)
    if (stalled.size < wanted) openOne()
  })
}
