// Examines a worker's settings, its database, and the web process's certificate, each with the check that the process itself
// makes.
import { X509Certificate } from 'node:crypto'
import { assumeDatabase, ConfigError } from '#config'
import { checkLogin, createDatabase, explainAbsence, isMigrated, workerRoles } from '#database'
import { describeError } from '#error-text'
import { findNewestMigration } from '#migration-file'
import { findNewerSchema } from '#release'
import { readTls } from '#server-settings'
import { parseSettings } from '#worker-settings'
import { reportMissing, reportOk, reportWarning } from './host.ts'
import type { Finding } from './host.ts'

// Let's Encrypt renews a month ahead, so a certificate that ends within 14 days was not renewed.
const renewedMilliseconds = 14 * 86_400_000

/** Examines the variables of a worker, except DATABASE_URL, which has its own row. */
export function examineSettings(environment?: NodeJS.ProcessEnv): Finding {
  try {
    parseSettings(assumeDatabase(environment))
    return reportOk('settings', 'no mistake in the worker’s variables')
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const detail = error.message.trim().replaceAll(/\n\s*/gu, '; ')
    return reportMissing('settings', detail, 'set these variables as docs/configuration.md says')
  }
}

/** Examines the database as a worker with this address would. @param readKept reads the address of `make run`; may throw. */
export async function examineDatabase(
  given: string | undefined,
  readKept: () => string,
): Promise<Finding> {
  const name = 'database'
  let url
  try {
    url = given ?? readKept()
  } catch (error) {
    const remedy = 'make run, which makes a database, or set DATABASE_URL'
    return reportWarning(name, describeError(error), remedy)
  }
  const sql = createDatabase({ url, connections: 1, name: 'runledger doctor' })
  try {
    const refusal = await checkLogin(sql, url, workerRoles)
    if (refusal !== null)
      return reportMissing(name, refusal, 'set DATABASE_URL to a login for workers: docs/deploy.md')
    if (!(await isMigrated(sql, findNewestMigration())))
      return reportMissing(name, 'it is older than this release', 'make migrate')
    const newer = await findNewerSchema(sql)
    if (newer?.isRefused === true) return reportMissing(name, newer.reason, 'start a newer release')
    return reportOk(name, 'reached; has the newest migration, and the login the needed rights')
  } catch (error) {
    const reason = explainAbsence(error, url) ?? describeError(error)
    return given === undefined
      ? reportWarning(name, `${reason}: \`make run\` starts this database`, 'make run')
      : reportMissing(name, reason, 'start PostgreSQL there, or set DATABASE_URL')
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/**
 * Examines the certificate; nothing without TLS_CERT and TLS_KEY. A fault is only a warning, because the web process needs the
 * files and a worker does not.
 */
export function examineTls(cert?: string, key?: string, now = Date.now()): Finding[] {
  const remedy =
    'set TLS_CERT and TLS_KEY of the web process to a PEM certificate and its key (docs/deploy.md)'
  const warn = (detail: string): Finding[] => [reportWarning('TLS', detail, remedy)]
  if ((cert === undefined) !== (key === undefined))
    return warn('only one of TLS_CERT and TLS_KEY is set')
  try {
    const pair = readTls(cert, key)
    if (pair === null) return []
    const end = new X509Certificate(pair.cert).validToDate
    const left = end.getTime() - now
    const detail = `${cert} ${left < 0 ? 'has expired on' : 'is valid until'} ${end.toISOString()}`
    return left < renewedMilliseconds ? warn(detail) : [reportOk('TLS', detail)]
  } catch (error) {
    return warn(describeError(error).trim())
  }
}
