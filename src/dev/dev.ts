// `make run` starts everything on one machine: PostgreSQL (under .data/, unless DATABASE_URL names another), migrations, an
// account with a key, then the Procfile's processes until Ctrl-C.
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { styleText } from 'node:util'
import { createAdmit, createAdmitOperator, issueKey } from '#account'
import type { Role } from '#account'
import { exitForConfig, readDevConfig, readOrExit } from '#config'
import { createDatabase, explainAbsence, explainRefusal } from '#database'
import type { Database } from '#database'
import { findPort, startEmbeddedPostgres } from '#embedded-postgres'
import type { EmbeddedPostgres } from '#embedded-postgres'
import { migrate, MigrationError } from '#migration'
import {
  keptFolder,
  keptOperatorKeyFile,
  keptReceiptKeyFile,
  keptUrlFile,
  nameKeyFile,
} from './kept.ts'
import { readProcfile, startProcesses } from './procfile.ts'

const preferredDatabasePort = 54_329

const config = readOrExit(readDevConfig)
await mkdir(keptFolder, { recursive: true, mode: 0o700 })
const keyFile = nameKeyFile(config.DATABASE_URL)
const lock = await lockFolder(keptFolder)
if ('holder' in lock) fail(`Runledger already runs in this checkout: ${lock.holder}`)

const embedded = config.DATABASE_URL === undefined ? await startPostgres() : null
const url = config.DATABASE_URL ?? embedded?.url('postgres') ?? ''
const database = createDatabase({ url, connections: 2, name: 'runledger dev', statementSeconds: 0 })
const key = await prepare(database)
if (embedded !== null) await writeFile(keptUrlFile, url, { mode: 0o600 })

// With PORT=0 findPort takes any free port, which is printed below.
const port = config.PORT || (await findPort(config.PORT ?? 3000))
lock.announce(`http://localhost:${port}, with its key in ${keyFile} (process ${process.pid})`)
say('starting web and worker (the worker checks this host first)')
const processes = startProcesses(await readProcfile(['web', 'worker']), {
  DATABASE_URL: url,
  PORT: String(port),
  RECEIPT_KEY: config.RECEIPT_KEY ?? (await readOrMakeReceiptKey()),
})
process.on('SIGINT', processes.stop)
process.on('SIGTERM', processes.stop)

if (await processes.started) {
  process.stdout.write(`
Runledger listens on http://localhost:${port}. In a browser, signed in with the key after the #:

  http://localhost:${port}/#key=${key}

By HTTP:

  curl -s 'http://localhost:${port}/api/submit?wait=true' -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' -d '{"language":"python","code":"print(sum(range(101)))"}'

Read the ledger:  psql "${embedded === null ? '$DATABASE_URL' : `$(cat ${keptUrlFile})`}" -c 'select * from audit.submission'
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

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

function startPostgres(): Promise<EmbeddedPostgres> {
  const options = { directory: `${keptFolder}/postgres`, port: preferredDatabasePort }
  return startEmbeddedPostgres({ ...options, onProgress: say }).catch((error: Error) =>
    fail(error.message),
  )
}

/** Migrates the database and issues the keys. @returns the account's key. */
async function prepare(sql: Database): Promise<string> {
  say('migrating the database')
  try {
    await migrate(sql, url)
    // The commands of `./runledger` that call the operator API use the operator's key.
    if (embedded !== null) await readOrIssueKey(sql, keptOperatorKeyFile, 'operator')
    return await readOrIssueKey(sql, keyFile, 'submit')
  } catch (error) {
    if (error instanceof MigrationError) {
      await embedded?.stop()
      const kept =
        embedded === null
          ? ''
          : `; it is in ${keptFolder}/postgres: remove this folder, and the next start makes a new database`
      fail(`The database does not fit this code: ${error.message}${kept}`)
    }
    const reason = explainRefusal(error, url) ?? explainAbsence(error, url)
    if (reason === null) throw error
    exitForConfig(`DATABASE_URL: ${reason}`)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

// All starts use the same key, so that receipts of earlier starts stay valid.
async function readOrMakeReceiptKey(): Promise<string> {
  const kept = await readFile(keptReceiptKeyFile, 'utf8').catch(() => '')
  if (kept !== '') return kept
  const { privateKey } = generateKeyPairSync('ed25519')
  const made = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  await writeFile(keptReceiptKeyFile, made, { mode: 0o600 })
  return made
}

/** Returns the key of the last start, if the database still knows it, or a new one. */
async function readOrIssueKey(sql: Database, file: string, role: Role): Promise<string> {
  const kept = (await readFile(file, 'utf8').catch(() => '')).trim()
  const admit = role === 'operator' ? createAdmitOperator(sql) : createAdmit(sql)
  if ((await admit(kept)) !== null) return kept
  const request = { account: 'local', tier: 'unlimited', role }
  const { key: issued } = await issueKey(sql, request, 'make run')
  await writeFile(file, `${issued}\n`, { mode: 0o600 })
  return issued
}

/**
 * Allows one `make run` per checkout: locks the folder for as long as this process lives. The first process listens on an
 * abstract socket that is named after the folder, and sends its address there to later ones. The kernel frees the socket when
 * the process ends.
 * @returns `announce`, to inform later processes; or what the process that holds the lock has announced.
 */
async function lockFolder(
  folder: string,
): Promise<{ readonly announce: (address: string) => void } | { readonly holder: string }> {
  const { dev, ino } = await stat(folder)
  const path = `\0runledger-${dev}-${ino}`
  let where = `it is starting (process ${process.pid})`
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.end(where)
  })
  try {
    server.listen({ path })
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return { holder: await text(connect({ path })) }
  }
  server.unref()
  return { announce: (address) => (where = address) }
}
