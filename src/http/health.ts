// Health checks for platforms and load balancers.
import { cachedRead, findMissingRight, isMigrated } from '#database'
import { Problem } from '#error'
import { sendJson } from './answer.ts'
import type { HttpDependencies } from './http.ts'
import { withDeadline } from './problem.ts'
import type { Handler } from './request.ts'

/** Answers `GET /healthz`, which says that the process is alive. */
export const live: Handler = (_request, response) => sendJson(response, 200, { status: 'ok' })

/** Resolves with a sentence on what keeps this process from serving, or null. Rejects when the database is unreachable. */
export type Readiness = () => Promise<string | null>

/**
 * Returns a check that the database answers, has this code's migrations, and gives this login its rights. What is missing is
 * logged once, with its remedy.
 */
export function createReadiness({ database, newestMigration, log }: HttpDependencies): Readiness {
  let logged: string | null = null
  const look = async (): Promise<string | null> => {
    const right = await findMissingRight(database, ['runledger_api'])
    const isOld = right === null && !(await isMigrated(database, newestMigration))
    const reason = isOld ? `the database lacks ${newestMigration}: run \`make migrate\`` : right
    if (reason !== null && reason !== logged) log.error({ reason }, 'web.not_ready')
    logged = reason
    if (isOld) return 'The database is older than this release.'
    return right === null ? null : 'The database login may not do what this service needs.'
  }
  // No key is needed to ask, so requests at the same time share one check.
  return cachedRead(look, 0)
}

/** Answers `GET /readyz`: 200, or 503 with what is missing. */
export function ready(readiness: Readiness): Handler {
  return async (_request, response) => {
    const missing = await withDeadline(readiness)
    if (missing !== null) throw new Problem('unavailable', missing)
    sendJson(response, 200, { status: 'ok' })
  }
}
