// The release entry of the Procfile: migrates the database to this release, then exits.
import { exitForConfig, readMigrateConfig, readOrExit } from '#config'
import { createDatabase, explainAbsence, explainRefusal } from '#database'
import { createLog } from '#log'
import { migrate, MigrationError } from './migration.ts'
import { isOfRelease, makeRoles } from './roles.ts'

const config = readOrExit(readMigrateConfig)
const log = createLog('migrate', config.LOG_LEVEL)
if (config.ADMIN_DATABASE_URL !== undefined) await prepareRoles(config.ADMIN_DATABASE_URL)
const database = createDatabase({
  url: config.DATABASE_URL,
  connections: 1,
  name: 'runledger migrate',
  statementSeconds: 0,
})
try {
  const { applied, partitions, oneRole, newer } = await migrate(database, config.DATABASE_URL)
  log.info({ applied, partitions, one_role: oneRole }, 'database.migrated')
  if (newer !== null) log.warn({ reason: newer }, 'database.newer')
  if (oneRole) {
    log.warn(
      'this database role may not create roles: all parts of the service have its rights (see docs/deploy.md)',
    )
  }
} catch (error) {
  explainFailure(error, 'DATABASE_URL', config.DATABASE_URL)
  process.exitCode = 1
} finally {
  await database.end({ timeout: 5 })
}

/** Makes the missing roles and the database. A repeated call, as by a supervisor, continues where the last one stopped. */
async function prepareRoles(adminUrl: string): Promise<void> {
  const { DATABASE_URL: url, WEB_PASSWORD: web, WORKER_PASSWORD: worker } = config
  if (!isOfRelease(url, adminUrl))
    exitForConfig(
      'DATABASE_URL: with ADMIN_DATABASE_URL set, it must name another user than that, the user’s password and a database',
    )
  try {
    await makeRoles({ adminUrl, url, passwords: { web, worker } })
    log.info('database.roles_made')
  } catch (error) {
    explainFailure(error, 'ADMIN_DATABASE_URL', adminUrl)
    process.exit(1)
  }
}

/** Logs why the migration failed. Ends the process if the address or its login is wrong. */
function explainFailure(error: unknown, variable: string, url: string): void {
  const refusal = explainRefusal(error, url)
  if (refusal !== null) exitForConfig(`${variable}: ${refusal}`)
  const reason = error instanceof MigrationError ? error.message : explainAbsence(error, url)
  log.fatal(reason === null ? { err: error } : { reason }, 'database.migration_failed')
}
