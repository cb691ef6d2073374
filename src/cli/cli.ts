// What an operator does at the server's command line: node src/cli/cli.ts COMMAND. Results go to stdout as JSON lines or
// text for people, complaints to stderr; the exit status is 0, 1 (it did not work out) or 64 (EX_USAGE: the call is wrong);
// that of `submit`, which needs no database, follows the verdict (submit.ts). `load` needs none either.
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { parseArgs } from 'node:util'
import { validate as isUuid } from 'uuid'
import { issueKey, listKeys, revokeKey, rotateKey } from '#account'
import {
  readClientConfig,
  readDatabaseConfig,
  readDoctorConfig,
  readOrExit,
  readRetentionConfig,
} from '#config'
import { createDatabase, errorCode } from '#database'
import type { Database } from '#database'
import { purgeBodies, rebuildProjections } from '#result'
import { auditHeads, tellLife, verifyLog } from './audit.ts'
import type { AuditAnswer } from './audit.ts'
import { exitStatuses, submitFile } from './submit.ts'
import { commandWebhooks } from './webhooks.ts'

const usage = `node src/cli/cli.ts COMMAND

  doctor                                      check this host for what the worker needs
  keys issue --account NAME [--tier TIER] [--expires DATE]
  keys list [--account NAME]
  keys rotate ID [--overlap SECONDS] [--expires DATE]
                                              a new key; the old one works for the overlap (default 86400)
  keys revoke ID
  audit ID                                    the life of one submission, webhook or key, told from the log
  audit verify                                hold the whole log against its hashes; exit status 1 if an event does not fit
  audit heads [--compare FILE]                what every stream ends with, in digests to keep elsewhere; or the log held
                                              against such a file, with exit status 1 if it does not end as it did
  webhooks list [--state STATE] [--limit N]   newest first; waiting, pending, delivered or abandoned (default limit 50)
  webhooks show ID                            one delivery and its attempts, by its or its submission's id
  webhooks replay ID < SECRET                 send one that has ended again; its secret was deleted, so give it on stdin
  rebuild                                     make results, pending submissions and deliveries anew from the log
  purge [--days DAYS]                         remove bodies older than that (default RETENTION_DAYS), as the worker does
  submit FILE [--language LANGUAGE] [--stdin FILE] [--expected FILE] [--wait] [--url URL] [--key-file FILE]
                                              call a service, by default the one at RUNLEDGER_URL with RUNLEDGER_API_KEY;
                                              with --wait the exit status is 0 for AC
  load [--clients N] [--seconds S] [--rate R] [--file FILE] [--language LANGUAGE] [--stdin FILE] [--json] [--url URL]
       [--key-file FILE]                      submit and wait, over and over: rate, latency, errors; --rate sends so many a
                                              second whatever becomes of them (default: 16 clients, 10 s, a python hello)
`

const foreignKeyViolation = '23503'

const { positionals, values } = readArguments()
const [command, ...rest] = positionals

switch (command) {
  case 'doctor':
    await doctor()
    break
  case 'keys':
    await withDatabase((sql) => keys(sql, rest[0], rest[1]))
    break
  case 'audit':
    await withDatabase((sql) => audit(sql, rest[0] ?? ''))
    break
  case 'webhooks':
    await withDatabase((sql) => webhooks(sql, rest[0], rest[1]))
    break
  case 'rebuild':
    await withDatabase(async (sql) => {
      print(
        await rebuildProjections(sql, ({ submissions }) => progress(`${submissions} submissions`)),
      )
    })
    break
  case 'purge':
    await withDatabase(purge)
    break
  case 'submit':
    process.exitCode = await submit(rest)
    break
  case 'load':
    process.exitCode = await load(rest)
    break
  default:
    complain(usage, 64)
}

async function doctor(): Promise<void> {
  // Loaded only here: the other commands need nothing of the executor.
  const { examineHost, formatFindings } = await import('#doctor')
  const { FIRST_UID: firstUid, CACHE_DIRECTORY: cacheDirectory, settings } = readDoctorConfig()
  const findings = await examineHost({ firstUid, cacheDirectory, settings })
  process.stdout.write(`${formatFindings(findings)}\n`)
  if (findings.some(({ level }) => level === 'missing')) process.exitCode = 1
}

async function keys(sql: Database, action: string | undefined, id = ''): Promise<void> {
  const operator = userInfo().username
  const expiresAt = values.expires === undefined ? undefined : new Date(values.expires)
  if (expiresAt !== undefined && !(expiresAt.getTime() > Date.now()))
    return complain('--expires is not a date to come', 64)
  if (action === 'issue' && values.account !== undefined && values.account !== '') {
    const { account, tier } = values
    try {
      print(await issueKey(sql, { account, tier, expiresAt }, operator))
    } catch (error) {
      if (errorCode(error) !== foreignKeyViolation) throw error
      complain(`there is no tier ${tier}`)
    }
  } else if (action === 'list') {
    for (const key of await listKeys(sql, values.account)) print(key)
  } else if (action === 'rotate' && isUuid(id)) {
    // At most some thirty years: what cannot be a date must fail before there is a successor.
    if (!/^\d{1,9}$/.test(values.overlap))
      return complain('--overlap is a number of seconds, at most 999999999', 64)
    const successor = await rotateKey(sql, id, Number(values.overlap), operator, expiresAt)
    if (successor === null) return complain('there is no such key in force')
    print(successor)
  } else if (action === 'revoke' && isUuid(id)) {
    if (!(await revokeKey(sql, id, operator))) return complain('there is no such key in force')
    print({ id, revoked: true })
  } else {
    complain(usage, 64)
  }
}

async function audit(sql: Database, id: string): Promise<void> {
  if (id === '') return complain(usage, 64)
  const answer = await answerAudit(sql, id)
  if (answer === null) return complain('there is nothing under this id')
  for (const line of answer.lines) process.stdout.write(`${line}\n`)
  if (!answer.ok) process.exitCode = 1
}

async function answerAudit(sql: Database, id: string): Promise<AuditAnswer | null> {
  if (id === 'verify') return verifyLog(sql, progress)
  if (id === 'heads') return auditHeads(sql, readText(values.compare, '--compare'))
  return isUuid(id) ? tellLife(sql, id) : null
}

async function purge(sql: Database): Promise<void> {
  const days =
    values.days === undefined
      ? readOrExit(readRetentionConfig).RETENTION_DAYS
      : /^[1-9]\d{0,4}$/.test(values.days)
        ? Number(values.days)
        : null
  if (days === null) return complain('--days is a number from 1 to 99999', 64)
  print(await purgeBodies(sql, days, (submissions) => progress(`${submissions} submissions`)))
}

async function webhooks(sql: Database, action?: string, id?: string): Promise<void> {
  const { state, limit } = values
  const operator = userInfo().username
  const request = { action, id, state, limit, operator, stdin: process.stdin }
  const { lines, complaint, usage: misused } = await commandWebhooks(sql, request)
  for (const line of lines) process.stdout.write(`${line}\n`)
  if (complaint !== undefined)
    complain(complaint === '' ? usage : complaint, misused === true ? 64 : 1)
}

async function submit([file, ...more]: readonly string[]): Promise<number> {
  if (file === undefined || more.length > 0) {
    complain(usage, exitStatuses.usage)
    return exitStatuses.usage
  }
  const { url, apiKey } = readService()
  const { language, wait, stdin: stdinFile, expected: expectedFile } = values
  return submitFile({ file, language, stdinFile, expectedFile, wait, url, apiKey }, process)
}

async function load(more: readonly string[]): Promise<number> {
  if (more.length > 0) {
    complain(usage, exitStatuses.usage)
    return exitStatuses.usage
  }
  // Loaded only here: the other commands need no HTTP client of that kind.
  const { commandLoad } = await import('./load.ts')
  const { clients, seconds, rate, file, language, stdin: stdinFile, json } = values
  const interrupted = new AbortController()
  process.once('SIGINT', () => interrupted.abort())
  const asked = { clients, seconds, rate, file, language, stdinFile, json }
  return commandLoad({ ...readService(), ...asked, signal: interrupted.signal }, process)
}

/** Which service to call and with which key. */
function readService(): { readonly url: string; readonly apiKey: string } {
  const config = readOrExit(readClientConfig)
  const apiKey = readText(values['key-file'], '--key-file') ?? config.RUNLEDGER_API_KEY
  if (apiKey === undefined) {
    complain(
      'there is no key: set RUNLEDGER_API_KEY, or name a file that holds one with --key-file',
    )
    process.exit(exitStatuses.usage)
  }
  return { url: values.url ?? config.RUNLEDGER_URL, apiKey }
}

function readText(file: string | undefined, option: string): string | null {
  if (file === undefined) return null
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    complain(`${option}: ${error instanceof Error ? error.message : String(error)}`)
    process.exit(exitStatuses.noInput)
  }
}

async function withDatabase(work: (sql: Database) => Promise<void>): Promise<void> {
  const config = readOrExit(readDatabaseConfig)
  const sql = createDatabase({
    url: config.DATABASE_URL,
    connections: 1,
    name: 'runledger cli',
    statementSeconds: 0,
  })
  try {
    await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        account: { type: 'string' },
        compare: { type: 'string' },
        tier: { type: 'string', default: 'beta' },
        expires: { type: 'string' },
        state: { type: 'string' },
        limit: { type: 'string', default: '50' },
        days: { type: 'string' },
        overlap: { type: 'string', default: '86400' },
        language: { type: 'string' },
        stdin: { type: 'string' },
        expected: { type: 'string' },
        wait: { type: 'boolean', default: false },
        url: { type: 'string' },
        'key-file': { type: 'string' },
        clients: { type: 'string', default: '16' },
        seconds: { type: 'string', default: '10' },
        rate: { type: 'string' },
        file: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    process.exit(64)
  }
}

function print(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

// For whoever watches; what a program reads is on stdout alone.
function progress(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${line}`)
  else process.stderr.write(`${line}\n`)
}

function complain(message: string, status = 1): void {
  process.stderr.write(`${message}\n`)
  process.exitCode = status
}
