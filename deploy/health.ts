// The image's health check. A web process in this container must answer /readyz with 200. A worker must have renewed its lease
// in the database and not be suspended. A container without either is healthy, because it migrates or is about to start them.
import { readFileSync, readdirSync } from 'node:fs'
import { get as getHttp } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { get as getHttps } from 'node:https'
import { hostname } from 'node:os'
import { readDatabaseConfig, readOrExit, readWebConfig } from '#config'
import { createDatabase } from '#database'

const patienceSeconds = 5

const complaints = [...(await examineWeb()), ...(await examineWorkers())]
process.stdout.write(`${complaints.length === 0 ? 'healthy' : complaints.join('; ')}\n`)
process.exitCode = complaints.length === 0 ? 0 : 1

async function examineWeb(): Promise<string[]> {
  if (findProcesses('src/server/server.ts').length === 0) return []
  const { PORT, TLS_CERT, HOST } = readOrExit(readWebConfig)
  const isAnyAddress = HOST === undefined || ['::', '0.0.0.0'].includes(HOST)
  const options = {
    host: isAnyAddress ? '127.0.0.1' : HOST,
    port: PORT,
    path: '/readyz',
    timeout: patienceSeconds * 1000,
    // The certificate is for the service's name and not for this address.
    rejectUnauthorized: false,
  }
  const get = TLS_CERT === undefined ? getHttp : getHttps
  try {
    const { statusCode } = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = get(options, resolve)
      request.once('error', reject)
      request.once('timeout', () => request.destroy(new Error('no answer')))
    })
    return statusCode === 200 ? [] : [`web: /readyz is ${statusCode}`]
  } catch (error) {
    return [`web: ${error instanceof Error ? error.message : String(error)}`]
  }
}

async function examineWorkers(): Promise<string[]> {
  const pids = findProcesses('src/worker/worker.ts')
  if (pids.length === 0) return []
  const database = createDatabase({
    url: readOrExit(readDatabaseConfig).DATABASE_URL,
    connections: 1,
    name: 'runledger health',
    statementSeconds: patienceSeconds - 1,
  })
  try {
    const rows = await database<{ pid: number; suspended: boolean }[]>`
      select pid, suspended_at is not null as suspended from audit.worker
      where host = ${hostname()} and pid = any (${pids}) and stopped_at is null and alive`
    if (rows.length < pids.length) return ['worker: has not renewed its lease in the database']
    return rows.some(({ suspended }) => suspended)
      ? ['worker: suspended, because its sandbox failed']
      : []
  } catch (error) {
    return [`worker: ${error instanceof Error ? error.message : String(error)}`]
  } finally {
    await database.end({ timeout: 1 })
  }
}

/** Returns the pids of this container's Node processes that run the entry. */
function findProcesses(entry: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readWords(pid)[0]?.endsWith('node') === true && readWords(pid).includes(entry))
    .map(Number)
}

function readWords(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return [] // it has ended meanwhile
  }
}
