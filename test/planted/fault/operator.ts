// Faults in what operators see and do.
import type { Fault } from '../fault.ts'

export const operatorFaults: readonly Fault[] = [
  {
    name: 'operator: what submits finds an operator’s key',
    text: 'where k.digest = admit_request.digest\n    and k.role = admit_request.role',
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
    text: 'if (request.operator?.isReadOnly === true) throw forbidden(',
    instead: 'if (request.operator === undefined) throw forbidden(',
    tests: ['http/order'],
  },
  {
    name: 'operator: each look is a statement',
    text: 'if (kept !== null && performance.now() < keptUntil) return kept',
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
    name: 'operator: the points of the last hours read all that came',
    text: 'order by r.id limit _cap',
    instead: 'order by r.id',
    tests: ['operator/series'],
  },
  {
    name: 'operator: a share stands for itself alone',
    text: 'case when l.is_cut then l.last else l.looks_until end - l.looks_at',
    instead: 'l.ends_at - l.starts_at',
    tests: ['operator/series'],
  },
  {
    name: 'operator: a filter by account fits all',
    text: 'and (_account is null or r.account_id = _account)',
    instead: '',
    tests: ['http/bulk'],
  },
  {
    name: 'operator: what is counted is done',
    text: 'asked.dry_run\n          ? countBulk(database, bulk)',
    instead: 'asked.dry_run && asked.after !== undefined\n          ? countBulk(database, bulk)',
    tests: ['http/bulk'],
  },
  {
    name: 'operator: a step that is repeated sends webhooks twice',
    text: "e.type = 'webhook.replayed' and e.recorded_at >= _until",
    instead: "e.type = 'webhook.replayed' and e.recorded_at < '-infinity'",
    tests: ['http/bulk'],
  },
  {
    name: 'operator: reruns take all of the queue',
    text: 'const shareOfQueue = 0.5',
    instead: 'const shareOfQueue = 1',
    tests: ['http/bulk'],
  },
  {
    name: 'operator: what a worker says of itself steers a terminal',
    text: 'given.map((row) => row.map(makeVisible))',
    instead: 'given',
    tests: ['cli/top'],
  },
  {
    name: 'operator: a walk ends before the log does',
    text: 'f.stream > verify.after and f.stream <= coalesce(_next, _last_id) and',
    instead: 'f.stream > verify.after and f.stream <= coalesce(_next, verify.after) and',
    tests: ['http/verify'],
  },
]
