// Separates roles: operators' keys open the paths under /api/operator and nothing else; all other keys open the other paths.
import { admitOperator, createKnownKeys, isWellFormedKey } from '#account'
import type { Operator } from '#account'
import type { Database } from '#database'
import { Problem } from '#error'
import { withDeadline } from '../deadline.ts'
import { notValid } from '../problem.ts'
import type { Handler } from '../request.ts'

/** The prefix of all paths for operators, and of no other path. */
const operatorPrefix = '/api/operator/'

/**
 * Sets `request.operator` for an operator's key, or answers 401 or 403; other keys are left to `submitters`. For requests that
 * only read, a key is looked up in the database every few seconds, once for all of its requests, so that open console pages
 * do not cost a statement each second.
 */
export function separateRoles(database: Database, submitters: Handler): Handler {
  const known = createKnownKeys<Operator>()
  // Lookups under way, shared because a thousand open pages may ask at once when their key is no longer remembered.
  const asking = new Map<string, Promise<Operator | null>>()
  const ask = (key: string): Promise<Operator | null> =>
    withDeadline((signal) => admitOperator(database, key, signal))
  const askOnce = (key: string): Promise<Operator | null> => {
    const asked = asking.get(key) ?? ask(key).finally(() => asking.delete(key))
    asking.set(key, asked)
    return asked
  }
  return async (request, response, next) => {
    const key = request.headers['x-api-key']
    if (typeof key !== 'string' || !isWellFormedKey(key, 'operator'))
      return submitters(request, response, next)
    const looks = request.method === 'GET' || request.method === 'HEAD'
    let operator = looks ? known.recall(key) : null
    if (operator === null) {
      operator = await (looks ? askOnce(key) : ask(key))
      known.learn(key, operator)
    }
    if (operator === null) throw notValid()
    if (request.route?.startsWith(operatorPrefix) === false)
      throw forbidden(
        'This is an operator’s key: it can be used only under /api/operator and cannot submit.',
      )
    request.operator = operator
    return next()
  }
}

/** Restricts a handler to operators' keys. */
export function forOperators(handler: Handler): Handler {
  return (request, response, next) => {
    if (request.operator === undefined) throw forbidden('This path needs an operator’s key.')
    return handler(request, response, next)
  }
}

/** Restricts a handler to operators' keys that may change something. */
export function forSteering(handler: Handler): Handler {
  return forOperators((request, response, next) => {
    if (request.operator?.isReadOnly === true) throw forbidden('This operator’s key is read-only.')
    return handler(request, response, next)
  })
}

function forbidden(message: string): Problem {
  return new Problem('forbidden', message)
}
