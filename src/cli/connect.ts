// Connects a command to the database: DATABASE_URL, or the database that `make run` keeps.
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { readCommandConfig, readOrExit } from '#config'
import { createDatabase, explainAbsence, explainRefusal, isUnmigrated } from '#database'
import type { Database } from '#database'
import { keptUrlFile } from '#kept'
import { CommandError, exitStatuses } from './command.ts'

/** How long a command waits for a running statement when its work has ended. */
const endSeconds = 5

/**
 * Runs `work` with a connection whose statements have no time limit.
 * @throws {CommandError} with one sentence when there is no usable database.
 */
export async function withDatabase<T>(work: (sql: Database) => Promise<T>): Promise<T> {
  const given = readOrExit(readCommandConfig).DATABASE_URL
  const url = given ?? readKeptUrl()
  const sql = createDatabase({ url, connections: 1, name: 'runledger cli', statementSeconds: 0 })
  try {
    return await work(sql)
  } catch (error) {
    throw explain(error, url, given === undefined)
  } finally {
    await sql.end({ timeout: endSeconds })
  }
}

/** Returns the name of the user who runs the command, for the log. */
export function operator(): string {
  return userInfo().username
}

/** Reads the address of the database that `make run` keeps. @throws {CommandError} when there is none. */
export function readKeptUrl(): string {
  const url = readKept(keptUrlFile, 'DATABASE_URL')
  if (url !== null) return url
  throw new CommandError(
    `DATABASE_URL is not set, and \`make run\` keeps no database in this checkout (${keptUrlFile})`,
    exitStatuses.config,
  )
}

/**
 * Reads a file that `make run` keeps in this checkout, for a variable that is not set. @returns null when there is none.
 * @throws {CommandError} when this user may not read it.
 */
export function readKept(file: string, variable: string): string | null {
  try {
    return readFileSync(join(import.meta.dirname, '../..', file), 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new CommandError(
      `${variable} is not set, and ${file} cannot be read (${(error as Error).message}): use \`sudo\` if \`make run\` ran with it`,
      exitStatuses.config,
    )
  }
}

function explain(error: unknown, url: string, isKept: boolean): unknown {
  const refusal = explainRefusal(error, url)
  if (refusal !== null) return new CommandError(refusal, exitStatuses.config)
  const absence = explainAbsence(error, url)
  if (absence !== null) {
    const remedy = isKept ? ': start it with `make run`, or set DATABASE_URL' : ''
    return new CommandError(`${absence}${remedy}`, exitStatuses.unavailable)
  }
  if (isUnmigrated(error)) {
    return new CommandError(
      `the database is older than this code: \`make migrate\` updates it (${(error as Error).message})`,
      exitStatuses.config,
    )
  }
  return error
}
