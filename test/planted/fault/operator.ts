// Faults in what operators see and do.
import type { Fault } from '../fault.ts'

export const operatorFaults: readonly Fault[] = [
  {
    name: 'operator: what submits finds an operator’s key',
    text: "where k.digest = admit_request.digest\n    and k.role = 'submit'",
    instead: 'where k.digest = admit_request.digest',
    tests: ['http/operator-key'],
  },
  {
    name: 'operator: an operator’s key opens what is for others',
    text: 'if (request.route?.startsWith(operatorPrefix) === false)',
    instead: 'if (request.route === null)',
    tests: ['http/operator-key'],
  },
  {
    name: 'operator: a key that only looks may steer',
    text: 'if (operator.isReadOnly) throw forbidden(',
    instead: 'if (operator.isReadOnly && operator.apiKeyId === null) throw forbidden(',
    tests: ['http/order'],
  },
  {
    name: 'operator: each look is a statement',
    text: 'if (look !== null && performance.now() < keptUntil) return look',
    instead: '',
    tests: ['operator/overview'],
  },
  {
    name: 'operator: a look reads the whole history',
    text: 'order by e.position desc limit read_recent_ends.events',
    instead: 'order by e.position desc',
    tests: ['operator/overview'],
  },
  {
    name: 'operator: a filter by account fits all',
    text: 'and (_account is null or r.account_id = _account)',
    instead: '',
    tests: ['http/bulk'],
  },
  {
    name: 'operator: what is counted is done',
    text: 'isDry ? countBulk(database, order) :',
    instead: 'isDry && order.after !== null ? countBulk(database, order) :',
    tests: ['http/bulk'],
  },
]
