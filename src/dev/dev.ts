// `make run`: everything on one machine without configuration. PostgreSQL (embedded, under .data/, unless DATABASE_URL
// names another), migrations, a first account with a key, then the Procfile's processes until Ctrl-C.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { styleText } from 'node:util'
import { admitRequest, issueKey } from '#account'
import { readDevConfig, readOrExit } from '#config'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { findPort, startEmbeddedPostgres } from '#embedded-postgres'
import { migrate } from '#migration'
import { readProcfile, startProcesses } from './procfile.ts'

const directory = '.data'
const preferredDatabasePort = 54_329

const config = readOrExit(readDevConfig)
await mkdir(directory, { recursive: true, mode: 0o700 })

const embedded =
  config.DATABASE_URL === undefined
    ? await startEmbeddedPostgres({
        directory: `${directory}/postgres`,
        port: preferredDatabasePort,
        onProgress: say,
      })
    : null
const url = config.DATABASE_URL ?? embedded?.url('postgres') ?? ''
const database = createDatabase({ url, connections: 2, name: 'runledger dev', statementSeconds: 0 })
say('migrating the database')
await migrate(database, url)
const key = await readOrIssueKey(database)
await database.end({ timeout: 5 })
await writeFile(`${directory}/database-url`, url, { mode: 0o600 })

const port = config.PORT ?? (await findPort(3000))
say('starting web and worker (the worker checks this host first)')
const processes = startProcesses(await readProcfile(['web', 'worker']), {
  DATABASE_URL: url,
  PORT: String(port),
})
process.on('SIGINT', () => void processes.stop())
process.on('SIGTERM', () => void processes.stop())

if (await processes.logged(['web.started', 'worker.started'])) {
  process.stdout.write(`
Runledger listens on http://localhost:${port}. Try it:

  curl -s 'http://localhost:${port}/api/submit?wait=true' -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' -d '{"language":"python","code":"print(sum(range(101)))"}'

Read the ledger:  psql "$(cat ${directory}/database-url)" -c 'select * from audit.submission'
Stop:             Ctrl-C

`)
}
process.exitCode = await processes.ended
if (embedded !== null) {
  say('stopping PostgreSQL')
  await embedded.stop()
}

function say(message: string): void {
  process.stdout.write(`${styleText('dim', 'runledger')} ${message}\n`)
}

// The key of the last start, if the database still knows it.
async function readOrIssueKey(sql: Database): Promise<string> {
  const kept = await readFile(`${directory}/key`, 'utf8').catch(() => '')
  if ((await admitRequest(sql, kept)) !== null) return kept
  const issued = await issueKey(sql, { account: 'local', tier: 'beta' }, 'make run')
  await writeFile(`${directory}/key`, issued.key, { mode: 0o600 })
  return issued.key
}
