// Who may do what: operators' keys open what is under /api/operator and nothing else, all other keys everything else.
import { admitOperator, createKnownKeys, isWellFormedKey } from '#account'
import type { Operator } from '#account'
import type { Database } from '#database'
import { Problem } from '#error'
import { withDeadline } from '../deadline.ts'
import { notValid } from '../problem.ts'
import type { Handler } from '../request.ts'

/** Every path of operators, and no other, begins so. */
const operatorPrefix = '/api/operator/'

/**
 * Sets `request.operator` for an operator's key, or answers 401 or 403; other keys are left to `submitters`. Who only looks is
 * asked about every few seconds, and once for all who look with that key: so pages that are open cost no statement a second.
 */
export function separateRoles(database: Database, submitters: Handler): Handler {
  const known = createKnownKeys<Operator>()
  // A thousand pages come again when it is no longer known.
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
      throw forbidden('This is an operator’s key: it is for /api/operator, and cannot submit.')
    request.operator = operator
    return next()
  }
}

/** A handler for any operator's key. */
export function forOperators(handler: Handler): Handler {
  return (request, response, next) => {
    if (request.operator === undefined) throw forbidden('This needs an operator’s key.')
    return handler(request, response, next)
  }
}

/** A handler for the keys of operators who may change something. */
export function forSteering(handler: Handler): Handler {
  return forOperators((request, response, next) => {
    if (request.operator?.isReadOnly === true) throw forbidden('This operator’s key is read-only.')
    return handler(request, response, next)
  })
}

function forbidden(message: string): Problem {
  return new Problem('forbidden', message)
}
