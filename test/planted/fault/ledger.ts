// Faults in the log, what is derived from it, and who may read it.
import type { Fault } from '../fault.ts'

export const ledgerFaults: readonly Fault[] = [
  {
    name: 'event: the hash does not cover the one before it',
    text: "    coalesce(previous_hash, ''::bytea)\n    || convert_to(",
    instead: "    ''::bytea\n    || convert_to(",
    tests: ['event/verify'],
  },
  {
    name: 'event: the hash does not cover who did it',
    text: 'stream_id, stream_version, type, schema_version, data, metadata, extract(epoch from recorded_at)',
    instead:
      'stream_id, stream_version, type, schema_version, data, extract(epoch from recorded_at)',
    tests: ['event/verify'],
  },
  {
    name: 'event: the log lets a superuser change it',
    text: "  raise exception '% on runledger.%: the log is append only', tg_op, tg_table_name\n    using errcode = 'RL001';",
    instead: '  return null;',
    tests: ['sql/sql'],
  },
  {
    name: 'event: a partition of the log may be changed by its own name',
    text: "if _plan.table_name = 'event' then",
    instead: "if _plan.table_name = 'body' then",
    tests: ['sql/sql'],
  },
  {
    name: 'event: heads leave out the last day of the log',
    text: 'upper: lowers[index + 1] ?? null }))',
    instead: 'upper: lowers[index + 1] ?? lower }))',
    tests: ['event/heads'],
  },
  {
    name: 'event: an old event skips its first upcast',
    text: 'ofType.slice(schemaVersion - 1).reduce(',
    instead: 'ofType.slice(schemaVersion).reduce(',
    tests: ['event/upcast'],
  },
  {
    name: 'event: an end of the log that was cut off is not missed',
    text: "(['streams', 'events', 'digest'] as const).every(",
    instead: "(['streams'] as const).every(",
    tests: ['event/heads'],
  },
  {
    name: 'result: bodies are purged before their time',
    text: 'join runledger.result r on r.id = b.submission_id and r.finished_at < _before',
    instead: 'join runledger.result r on r.id = b.submission_id',
    tests: ['result/purge'],
  },
  {
    name: 'result: the address of a webhook that is still to be delivered is purged',
    text: "coalesce(d.state, 'none') not in ('waiting', 'pending')",
    instead: "coalesce(d.state, 'none') not in ('waiting')",
    tests: ['result/purge'],
  },
  {
    name: 'result: a webhook keeps its address when the bodies are purged',
    text: 'update runledger.delivery set url = null where delivery.submission_id = any (remove_bodies.ids);',
    instead: '',
    tests: ['result/purge'],
  },
  {
    name: 'result: what was purged reads as an empty output',
    text: 'const kept = row.finished_at !== null && row.purged_at === null',
    instead: 'const kept = row.finished_at !== null',
    tests: ['result/purge'],
  },
  {
    name: 'result: a rebuild keeps rows that the log knows nothing of',
    text: 'where r.id = any (_ids) and not exists (',
    instead:
      'where r.id = any (_ids) and exists (select from runledger.event e where e.stream_id = r.id) and not exists (',
    tests: ['result/rebuild'],
  },
  {
    name: 'result: of two that wait for a submission one is told',
    text: 'set waiters = array_append(pending.waiters, await_submissions.waiter)',
    instead: 'set waiters = array[await_submissions.waiter]',
    tests: ['result/wait'],
  },
  {
    name: 'result: a lost notification is never made up for',
    text: 'const timer = setInterval(lookUpOnce, lookupIntervalMilliseconds)',
    instead: 'const timer = setInterval(() => {}, lookupIntervalMilliseconds)',
    tests: ['result/wait'],
  },
  {
    name: 'result: nobody is notified of an end',
    text: 'select pg_notify(channel, payload)',
    instead: "select pg_notify('nobody', payload)",
    tests: ['job/execute/conclude'],
  },
  {
    name: 'result: a result is told without its end when it is long',
    text: "else json_build_object('id', result.id)::text end",
    instead: 'end',
    tests: ['result/wait'],
  },
  {
    name: 'ledger: a queue takes one more than its capacity',
    text: 'cardinality(_accounts) + _request.submissions, _request.capacity,',
    instead: 'cardinality(_accounts), _request.capacity,',
    tests: ['http/refusal'],
  },
  {
    name: 'ledger: a full queue takes of an account whatever it has in it',
    text: ') mine\n  ) <= _few;',
    instead: ') mine\n  ) >= 0;',
    tests: ['http/refusal'],
  },
  {
    name: 'ledger: an idempotency key is remembered for a month',
    text: "created_at = now()\n        where i.created_at <= now() - interval '24 hours';",
    instead: "created_at = now()\n        where i.created_at <= now() - interval '24 days';",
    tests: ['http/idempotency'],
  },
  {
    name: 'ledger: another request under the same key passes for the same',
    text: 'i.request_digest = _request.request_digest, i.batch_answer',
    instead: 'true, i.batch_answer',
    tests: ['http/idempotency'],
  },
  {
    name: 'ledger: a key runs one program more than its tier lets it',
    text: '<= item.most - (',
    instead: '<= 1 + item.most - (',
    tests: ['http/concurrency'],
  },
  {
    name: 'ledger: a refused request keeps its idempotency key',
    text: '      delete from runledger.idempotency i\n      where i.account_id = _request.account_id',
    instead:
      '      delete from runledger.idempotency i\n      where false and i.account_id = _request.account_id',
    tests: ['job/receive'],
  },
  {
    name: 'ledger: a key that was revoked while its request arrived stores it',
    text: "case when _request.is_refused then 'key_refused'",
    instead: "case when false then 'key_refused'",
    tests: ['job/receive'],
  },
  {
    name: 'ledger: an answer that was given up takes effect all the same',
    text: "statement_timestamp() + interval '1.5 seconds' then",
    instead: "statement_timestamp() + interval '150 seconds' then",
    tests: ['job/receive'],
  },
  {
    name: 'ledger: a projection keeps the runtime of an attempt that was lost',
    text: "case when ended_by is not null or is_running then started ->> 'runtime' end as runtime",
    instead: "started ->> 'runtime' as runtime",
    tests: ['sql/fold'],
  },
  {
    name: 'ledger: an altered output is not seen',
    text: "('stdout', sha256(o.stdout), ended.data #>> '{stdout,sha256}'),",
    instead: '',
    tests: ['event/verify'],
  },
  {
    name: 'ledger: the auditor cannot read the views',
    text: 'grant select on all tables in schema audit to runledger_auditor;',
    instead: '',
    tests: ['sql/sql'],
  },
  {
    name: 'ledger: the web process may not flush the log',
    text: 'runledger.flush_log, runledger.await_submissions,',
    instead: 'runledger.await_submissions,',
    tests: ['http/role'],
  },
  {
    name: 'ledger: the web process may read the secrets of webhooks',
    text: 'grant select (submission_id, webhook_id, attempts, state, due_at) on runledger.delivery to runledger_api;',
    instead: 'grant select on runledger.delivery to runledger_api;',
    tests: ['sql/sql'],
  },
  {
    name: 'migration: an edited migration is passed over',
    text: 'if (earlier !== undefined && earlier !== sha256) {',
    instead: "if (earlier === '') {",
    tests: ['sql/migration'],
  },
  {
    name: "migration: an older release puts its functions over a newer one's",
    text: 'if (!isOlder) for (const { text } of present) await sql.unsafe(text)',
    instead: 'for (const { text } of present) await sql.unsafe(text)',
    tests: ['sql/migration'],
  },
  {
    name: 'ledger: what was found is lost from view when the walk goes on',
    text: '    select unnest(_before.suspects)\n    union\n',
    instead: '',
    tests: ['job/ledger-check'],
  },
  {
    name: 'ledger: nobody looks at it',
    text: '    await checkLedger()\n',
    instead: '',
    tests: ['job/ledger-check'],
  },
  {
    name: 'metrics: a figure that an alert asks for has another name',
    text: "name: 'oldest_queued_seconds',",
    instead: "name: 'oldest_job_seconds',",
    tests: ['deploy/prometheus'],
  },
  {
    name: 'metrics: a counter appears with the first of what it counts',
    text: '  for (const reason of abandonReasons) abandoned.inc({ reason }, 0)\n',
    instead: '',
    tests: ['http/metrics'],
  },
]
