// The Procfile's release entry: brings the database up to this code, then exits.
import { exitForConfig, readDatabaseConfig, readOrExit } from '#config'
import { createDatabase, explainAbsence, explainRefusal } from '#database'
import { createLog } from '#log'
import { migrate, MigrationError } from './migration.ts'

const config = readOrExit(readDatabaseConfig)
const log = createLog('migrate', config.LOG_LEVEL)
const database = createDatabase({
  url: config.DATABASE_URL,
  connections: 1,
  name: 'runledger migrate',
  statementSeconds: 0,
})
try {
  const { applied, partitions, oneRole } = await migrate(database, config.DATABASE_URL)
  log.info({ applied, partitions, one_role: oneRole }, 'database.migrated')
  if (oneRole) {
    log.warn(
      'this database role may not create roles: all parts of the service have its rights (see docs/deploy.md)',
    )
  }
} catch (error) {
  const refusal = explainRefusal(error, config.DATABASE_URL)
  if (refusal !== null) exitForConfig(`DATABASE_URL: ${refusal}`)
  const reason =
    error instanceof MigrationError ? error.message : explainAbsence(error, config.DATABASE_URL)
  log.fatal(reason === null ? { err: error } : { reason }, 'database.migration_failed')
  process.exitCode = 1
} finally {
  await database.end({ timeout: 5 })
}
