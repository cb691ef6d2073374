// The Procfile's release entry: brings the database up to this code, then exits.
import { readDatabaseConfig, readOrExit } from '#config'
import { createDatabase } from '#database'
import { createLog } from '#log'
import { migrate } from '#migration'

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
      'this database role may not create roles: all parts of the service have its rights (see sql/README.md)',
    )
  }
} catch (error) {
  log.fatal({ err: error }, 'database.migration_failed')
  process.exitCode = 1
} finally {
  await database.end({ timeout: 5 })
}
