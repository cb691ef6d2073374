-- Beside the log: bodies, the cached result projection, what is unfinished, remembered idempotency keys, deliveries.

create table runledger.body (
  submission_id uuid primary key,
  code bytea,
  stdin bytea,
  expected_stdout bytea,
  stdout bytea,
  stderr bytea,
  compile_output bytea
) partition by range (submission_id);
comment on table runledger.body is 'The bytes of a submission. Kept apart from the log so that retention can remove them while the log, which has their hashes, stays whole. No row: purged. Partitioned by id, which is by time.';
create table runledger.body_default partition of runledger.body default;
comment on table runledger.body_default is 'Bodies of submissions that no other partition covers.';

create table runledger.result (
  id uuid primary key,
  account_id uuid not null,
  api_key_id uuid not null,
  version integer not null,
  status text not null constraint result_status check (status in ('queued', 'running', 'completed', 'failed')),
  verdict text constraint result_verdict check (verdict in ('AC', 'WA', 'CE', 'RE', 'TLE', 'MLE', 'OLE', 'IE')),
  language text not null,
  runtime text,
  exit_code integer,
  signal text,
  stdout_truncated boolean,
  stderr_truncated boolean,
  cpu_time double precision,
  wall_time double precision,
  memory_peak bigint,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  purged_at timestamptz
);
comment on table runledger.result is 'A cache of the view runledger.result_from_log, which defines it. audit.drift is their difference and stays empty.';
comment on column runledger.result.version is 'The stream version it was made from.';
comment on column runledger.result.cpu_time is 'Seconds, user + system, of everything in the run''s cgroup.';
comment on column runledger.result.wall_time is 'Seconds, monotonic, program start to end.';
comment on column runledger.result.memory_peak is 'Bytes, the cgroup''s peak.';
comment on column runledger.result.purged_at is 'When retention removed the bodies.';
create index result_by_account on runledger.result (account_id, id desc);

create table runledger.pending (
  submission_id uuid primary key,
  api_key_id uuid not null,
  admitted boolean not null,
  awaited boolean not null
);
comment on table runledger.pending is 'Submissions without a terminal event. Deleted by the transaction that ends them.';
comment on column runledger.pending.admitted is 'True when it has a job; false while its key has as many executing as its tier allows.';
comment on column runledger.pending.awaited is 'Somebody waits for the end: only then is it notified, because NOTIFY serialises commits.';
create index pending_by_key on runledger.pending (api_key_id, admitted, submission_id);

create table runledger.idempotency (
  account_id uuid not null,
  key uuid not null,
  submission_id uuid not null,
  request_digest bytea not null,
  batch_answer text,
  created_at timestamptz not null default now(),
  primary key (account_id, key)
);
comment on table runledger.idempotency is 'Idempotency-Key headers of the last 24 hours. The primary key is what makes a repeated request harmless.';
comment on column runledger.idempotency.batch_answer is 'What a batch was answered, JSON with one element an item; null for a single submission. submission_id is then its first good item.';
comment on column runledger.idempotency.request_digest is 'SHA-256 of the parsed request, to tell a replay from a different request under the same key.';
create index idempotency_by_age on runledger.idempotency (created_at);

create table runledger.delivery (
  submission_id uuid primary key,
  webhook_id uuid not null,
  url text,
  secret text,
  attempts integer not null default 0,
  state text not null default 'waiting'
    constraint delivery_state check (state in ('waiting', 'pending', 'delivered', 'abandoned')),
  due_at timestamptz,
  constraint delivery_webhook_key unique (webhook_id)
);
comment on table runledger.delivery is 'Webhooks asked for: where to, and the secret until delivery has ended. Attempts are events of the stream webhook_id.';
comment on column runledger.delivery.url is 'The whole address, which may hold the caller''s secrets: a body like any other. Null once it was purged; the log has the host.';
comment on column runledger.delivery.state is 'waiting: the submission is unfinished; pending: an attempt is due; delivered or abandoned: over, the secret is gone.';
create index delivery_due on runledger.delivery (due_at) where state = 'pending';
