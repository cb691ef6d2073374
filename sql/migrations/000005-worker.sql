-- Workers as they report themselves: which is alive decides whose runs are lost.

create table runledger.worker (
  id uuid primary key,
  host text not null,
  pid integer not null,
  slots integer not null,
  languages jsonb not null,
  lease_seconds double precision not null constraint worker_lease check (lease_seconds > 0),
  lock_key integer generated always as identity,
  queue_pool_ids text[] not null default '{}',
  started_at timestamptz not null default now(),
  renewed_at timestamptz not null default now(),
  stopped_at timestamptz,
  suspended_at timestamptz
);
comment on table runledger.worker is 'Worker processes: one row a start. A live one holds the advisory lock (71830, lock_key) and renews its lease.';
comment on column runledger.worker.languages is 'What it runs: versions, command lines and limits of each language.';
comment on column runledger.worker.lease_seconds is 'Not renewed for so long, it is given up; renewed fifteen times as often.';
comment on column runledger.worker.lock_key is 'Second key of the session advisory lock; a killed process frees it at once.';
comment on column runledger.worker.queue_pool_ids is 'graphile-worker''s ids of its pools, by which its locked jobs are freed.';
comment on column runledger.worker.renewed_at is 'The lease, by the database''s clock: a process that is frozen stops renewing it.';
comment on column runledger.worker.suspended_at is 'Since when it takes no submissions, because its sandbox failed; null when it takes them.';
create index worker_alive on runledger.worker (renewed_at) where stopped_at is null;
