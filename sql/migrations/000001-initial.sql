-- Everything that is stored: schemas, roles, types, tables, indexes. Functions, views and grants are made again at every
-- migration, from the folders beside this one.
--
-- Roles carry no password and cannot log in: an operator grants them to login roles of their own (sql/README.md). Where the
-- migrating role may not create roles (one-role platform databases), there are none, and the grants that name them are
-- skipped.

-- The schema runledger itself exists: the record of applied migrations stands in it.
comment on schema runledger is 'Tables and functions of the service. The log is runledger.event. Results, pending submissions, deliveries and reruns can be made from it; accounts, digests of keys, idempotency keys, blobs, and the URL and secret of a webhook cannot.';

create schema job;
comment on schema job is 'Wrappers that put jobs into the queue, in the caller''s transaction.';

create schema audit;
comment on schema audit is 'Views for auditors: read these, change nothing.';

do $$
declare
  _role text;
begin
  foreach _role in array array['runledger_owner', 'runledger_queue', 'runledger_api', 'runledger_worker', 'runledger_auditor'] loop
    if not exists (select from pg_catalog.pg_roles where rolname = _role) then
      begin
        execute format('create role %I nologin', _role);
      exception
        when insufficient_privilege then
          raise notice 'role % not made: this database role may not create roles', _role;
        when duplicate_object or unique_violation then
          null; -- another database of this cluster made it in the same moment
      end;
    end if;
  end loop;
end
$$;

-- Accounts: who may call, how much, and what each has stored.

create table runledger.account (
  id uuid primary key,
  name text not null constraint account_name_length check (length(name) between 1 and 200),
  created_at timestamptz not null default now(),
  blob_bytes bigint not null default 0 constraint account_blob_bytes check (blob_bytes >= 0),
  constraint account_name_key unique (name)
);
comment on table runledger.account is 'A customer. Submissions, results and idempotency keys belong to accounts.';
comment on column runledger.account.blob_bytes is 'The sum of runledger.count_blob over its blobs, so that a quota is held against one row.';

create table runledger.tier (
  name text primary key,
  requests_per_minute integer constraint tier_requests check (requests_per_minute > 0),
  concurrent_executions integer constraint tier_executions check (concurrent_executions > 0),
  limits jsonb not null default '{
    "cpu_time": 15, "wall_time": 30, "memory": 1073741824, "processes": 256,
    "stdout": 2097152, "stderr": 1048576, "disk": 268435456
  }' constraint tier_limits check (jsonb_typeof(limits) = 'object'),
  blob_bytes bigint default 268435456 constraint tier_blob_bytes check (blob_bytes > 0),
  weight integer not null default 1 constraint tier_weight check (weight between 1 and 1000),
  total_seconds integer not null default 600 constraint tier_total_seconds check (total_seconds between 1 and 86400),
  output_bytes bigint constraint tier_output_bytes check (output_bytes > 0),
  cores integer constraint tier_cores check (cores between 1 and 1024),
  batch_items integer not null default 20 constraint tier_batch_items check (batch_items between 1 and 1000)
);
comment on table runledger.tier is 'What a key may use. runledger.define_tier makes one and changes it, with an event.';
comment on column runledger.tier.requests_per_minute is 'Requests in any 60 seconds; null is unlimited.';
comment on column runledger.tier.concurrent_executions is 'Submissions of one key executing at once; null is unlimited.';
comment on column runledger.tier.limits is 'The most that a submission''s own limits may be, for the run and for the compiler; a language''s default is always allowed.';
comment on column runledger.tier.blob_bytes is 'The most that an account may have in blobs when a key of this tier uploads another; null is unlimited.';
comment on column runledger.tier.weight is 'How many times an account''s share of the slots that of weight 1 is.';
comment on column runledger.tier.total_seconds is 'What a submission''s compiler, tests and checkers may run in all, in seconds by the clock.';
comment on column runledger.tier.output_bytes is 'The most that is kept in a day of what the runs of an account have written; of what comes after it only the beginning is. Null is unlimited.';
comment on column runledger.tier.cores is 'That a box may use at once, of those that its worker has; null: the worker''s share for a slot.';
comment on column runledger.tier.batch_items is 'The most submissions that a batch may hold.';

insert into runledger.tier (name, requests_per_minute, concurrent_executions, output_bytes)
values ('beta', 60, 10, 1073741824);
insert into runledger.tier (name, blob_bytes, total_seconds, batch_items, limits)
-- Nobody's single run is cut short by total_seconds: it is six times the longest wall limit.
values ('unlimited', null, 3600, 1000, '{
  "cpu_time": 300, "wall_time": 600, "memory": 4294967296, "processes": 1024,
  "stdout": 16777216, "stderr": 16777216, "disk": 1073741824
}');

create table runledger.api_key (
  id uuid primary key,
  account_id uuid not null references runledger.account (id),
  tier text not null references runledger.tier (name),
  label text not null,
  digest bytea not null constraint api_key_digest_length check (length(digest) = 32),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  role text not null default 'submit' constraint api_key_role check (role in ('submit', 'operator')),
  read_only boolean not null default false constraint api_key_read_only check (role = 'operator' or not read_only),
  name text constraint api_key_name check (length(name) between 1 and 64 and name !~ '[[:cntrl:]]'),
  constraint api_key_digest_key unique (digest)
);
comment on table runledger.api_key is 'API keys by digest. The key itself is shown once, when it is issued, and stored nowhere.';
comment on column runledger.api_key.label is 'The key''s first characters, enough for a person to tell keys apart.';
comment on column runledger.api_key.digest is 'SHA-256 of the whole key.';
comment on column runledger.api_key.role is 'submit: it submits, and reads what its account has; operator: it looks at the service and steers it, and submits nothing.';
comment on column runledger.api_key.read_only is 'An operator''s that looks alone.';
comment on column runledger.api_key.name is 'Said of it when it was issued; several may have one name, as a key and its successor do. Null: it has none.';
create index api_key_by_account on runledger.api_key (account_id);

create table runledger.rate_window (
  api_key_id uuid primary key references runledger.api_key (id),
  admitted_at timestamptz[] not null
);
comment on table runledger.rate_window is 'When a key''s requests of the last 60 seconds were admitted: an exact sliding window, shared by all web processes.';

-- The log. Rows are only ever added; each carries a hash over its content and its predecessor's hash, so that a
-- changed, removed or inserted row shows (audit.broken_chain).
--
-- Partitioned by stream: ids are UUID v7, so that is by time. A stream lies in one partition, and every constraint names
-- the stream, so none is weakened. What no partition covers (an id from a clock gone wrong, a partition that was not
-- made in time) goes to the default one and is as good there.

create sequence runledger.event_position as bigint;
comment on sequence runledger.event_position is 'Numbers events. An identity column would need PostgreSQL 17 on a partitioned table.';

create table runledger.event (
  position bigint not null default nextval('runledger.event_position'),
  transaction_id xid8 not null default pg_current_xact_id(),
  stream_id uuid not null,
  stream_version integer not null,
  type text not null,
  schema_version integer not null,
  data jsonb not null,
  metadata jsonb not null,
  recorded_at timestamptz not null,
  hash bytea not null,
  constraint event_pkey primary key (stream_id, stream_version)
) partition by range (stream_id);
comment on table runledger.event is 'Everything that happened, append only. The primary key makes a second event at one version impossible.';
comment on column runledger.event.position is 'Order of insertion; not the order of commits. A cursor over the log must also use transaction_id.';
comment on column runledger.event.transaction_id is 'Lets a reader wait out transactions still open: transaction_id < pg_snapshot_xmin(pg_current_snapshot()).';
comment on column runledger.event.stream_id is 'What it happened to: a submission, a batch, a webhook, an API key, a tier, a worker.';
comment on column runledger.event.stream_version is '1, 2, 3 … within the stream, without gaps.';
comment on column runledger.event.metadata is 'Who and what caused it: the request''s id, and as actor the key, the worker, the operator, the signal or the retention that acted, or the lost worker whose run was given back (sweep_of).';
comment on column runledger.event.hash is 'sha256 over the previous event''s hash and this event''s content; see runledger.hash_event.';
create index event_by_position on runledger.event (position);
-- As runledger.closes_submission has them.
create unique index event_one_terminal on runledger.event (stream_id)
  where type in ('execution.completed', 'execution.abandoned', 'submission.cancelled');
comment on index runledger.event_one_terminal is 'A submission ends once.';
create index event_received on runledger.event (stream_id) where type = 'submission.received';

create table runledger.event_default partition of runledger.event default;
comment on table runledger.event_default is 'Events of streams that no other partition covers.';

create type runledger.new_event as (
  stream_id uuid,
  stream_version integer,
  type text,
  schema_version integer,
  data jsonb,
  metadata jsonb,
  previous_hash bytea
);
comment on type runledger.new_event is 'An event that is to be appended (runledger.append_events).';
comment on column runledger.new_event.previous_hash is 'The hash of the event before it; null for the first one.';

create table runledger.partitioning (
  table_name text primary key constraint partitioning_table check (table_name in ('event', 'body', 'output')),
  width interval not null constraint partitioning_width check (width >= interval '1 minute'),
  ahead integer not null constraint partitioning_ahead check (ahead between 1 and 1000)
);
comment on table runledger.partitioning is 'How the tables that grow are divided; an operator may change a row at any time. runledger.make_partitions reads it.';
comment on column runledger.partitioning.width is 'The time that one new partition covers; those that exist stay as they are.';
comment on column runledger.partitioning.ahead is 'So many partitions are made before they are needed.';
-- Bodies go by the day, so that retention can drop what a day left; the log stays, and wants few partitions.
insert into runledger.partitioning (table_name, width, ahead)
values ('event', '1 month', 3), ('body', '1 day', 14), ('output', '1 day', 14);

create table runledger.ledger_check (
  single boolean primary key default true constraint ledger_check_single check (single),
  checked_at timestamptz,
  drift bigint not null default 0,
  broken_chain bigint not null default 0,
  invariant bigint not null default 0,
  suspects uuid[] not null default '{}',
  walked_up_to uuid not null default '00000000-0000-0000-0000-000000000000',
  walked_at timestamptz
);
comment on table runledger.ledger_check is 'The one row in which runledger.check_ledger keeps what it found and how far it has come.';
comment on column runledger.ledger_check.checked_at is 'When it last looked; null before the first time.';
comment on column runledger.ledger_check.drift is 'Rows that audit.drift has of the streams that were looked at; broken_chain and invariant likewise.';
comment on column runledger.ledger_check.suspects is 'Where something was found: looked at every time, until nothing is found there any more.';
comment on column runledger.ledger_check.walked_up_to is 'The walk through the whole log has come to this id.';
comment on column runledger.ledger_check.walked_at is 'When a walk last came to the end of the log; null before the first time.';
insert into runledger.ledger_check default values;

-- Submissions, beside the log: bodies, results, what is unfinished, idempotency keys, deliveries, reruns, outputs.

create table runledger.body (
  submission_id uuid primary key,
  code bytea,
  stdin bytea,
  expected_stdout bytea,
  detail bytea,
  blobs bytea
) partition by range (submission_id);
comment on table runledger.body is 'The bytes that a submission was received with. Kept apart from the log so that retention can remove them while the log, which has their hashes, stays whole. No row: purged. Partitioned by id, which is by time.';
comment on column runledger.body.detail is 'What was asked beside code and input, as JSON: arguments, files, limits. Null: nothing.';
create table runledger.body_default partition of runledger.body default;
comment on column runledger.body.blobs is 'The blobs that it names, each once: SHA-256 after SHA-256, 32 bytes each (runledger.list_blobs). Null: none.';
comment on table runledger.body_default is 'Bodies of submissions that no other partition covers.';

create table runledger.output (
  submission_id uuid primary key,
  stdout bytea,
  stderr bytea,
  compile_output bytea,
  report bytea
) partition by range (submission_id);
comment on table runledger.output is 'What a submission''s last attempt printed, written once, with its end; beside the log and partitioned as runledger.body is, and purged with it. No row: no attempt has ended, or purged.';
comment on column runledger.output.report is 'What is told of the end beside the outputs, as JSON. Null: nothing.';
create table runledger.output_default partition of runledger.output default;
comment on table runledger.output_default is 'Outputs of submissions that no other partition covers.';

create table runledger.pending (
  submission_id uuid primary key,
  account_id uuid not null,
  api_key_id uuid not null,
  language text not null,
  is_low boolean not null default false,
  requires jsonb,
  version integer not null,
  hash bytea not null,
  is_running boolean not null default false,
  is_cancelled boolean not null default false,
  attempts integer not null default 0,
  run text,
  worker_id uuid,
  runtime text,
  limits jsonb,
  created_at timestamptz not null,
  started_at timestamptz,
  tag text,
  output_encoding text,
  rerun_of uuid,
  batch_id uuid,
  -- What follows the log does not have.
  admitted boolean not null,
  position bigint,
  waiters text[],
  is_parked boolean not null default false
) with (fillfactor = 70);
comment on table runledger.pending is 'Where each unfinished submission stands. A cache of the view runledger.pending_from_log, but for admitted, position, waiters and is_parked, which the log does not have. Deleted by the transaction that ends it.';
comment on column runledger.pending.is_low is 'It waits until none waits that is not.';
comment on column runledger.pending.requires is 'What a worker must know before it starts it, as submission.received says it: limits, demands, checker_language, detail. Null: nothing.';
comment on column runledger.pending.admitted is 'True when it has a job; false while its key has as many executing as its tier allows.';
comment on column runledger.pending.position is 'Its place in the fair queue, which it keeps while it runs (job.find_position) and has not lent its slot (runledger.lend_slot); null before it is admitted, and of a low one.';
comment on column runledger.pending.version is 'Of the last event of its stream, which the next one follows.';
comment on column runledger.pending.hash is 'Of the last event of its stream.';
comment on column runledger.pending.is_running is 'An attempt of it is under way.';
comment on column runledger.pending.is_cancelled is 'The end of that attempt was asked for (submission.cancel_requested).';
comment on column runledger.pending.attempts is 'How many were started.';
comment on column runledger.pending.run is 'The last attempt''s name; worker_id, runtime, limits and started_at are of it too.';
comment on column runledger.pending.batch_id is 'The batch of which it is a member, if that has a webhook.';
comment on column runledger.pending.waiters is 'Channels of the processes that wait for the end, which are notified of it after its commit.';
comment on column runledger.pending.is_parked is 'It runs, and has lent its slot between two tests: it waits for one at its position.';
-- In the order in which runledger.admit_waiting takes them.
create index pending_by_rank on runledger.pending (api_key_id, admitted, is_low, submission_id);
-- What job.find_position looks for: an account's last position, the last one of those that run, the first one of all.
create index pending_by_account on runledger.pending (account_id, position);
-- By its second condition it serves no other look-up, whose plan would read all that runs.
create index pending_running on runledger.pending (position) where is_running and position is not null;
create index pending_by_position on runledger.pending (position);
-- Whether a batch has members left.
create index pending_by_batch on runledger.pending (batch_id) where batch_id is not null;

create table runledger.result (
  id uuid primary key,
  account_id uuid not null,
  api_key_id uuid not null,
  version integer not null,
  status text not null constraint result_status check (status in ('completed', 'failed', 'cancelled')),
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
  finished_at timestamptz not null,
  purged_at timestamptz,
  tag text,
  output_encoding text,
  exceeded text,
  compile jsonb,
  rerun_of uuid,
  slot_seconds double precision,
  score double precision,
  max_score double precision
);
comment on table runledger.result is 'What became of each finished submission, written once, at its end. A cache of the view runledger.result_from_log, which defines it; audit.drift is their difference and stays empty.';
comment on column runledger.result.version is 'The stream version it was made from.';
comment on column runledger.result.cpu_time is 'Seconds, user + system, of everything in the run''s cgroup.';
comment on column runledger.result.wall_time is 'Seconds, monotonic, program start to end.';
comment on column runledger.result.memory_peak is 'Bytes, the cgroup''s peak.';
comment on column runledger.result.purged_at is 'When retention removed the bodies.';
comment on column runledger.result.tag is 'The caller''s own word for it.';
comment on column runledger.result.output_encoding is 'How outputs are told: null is as text, else base64.';
comment on column runledger.result.exceeded is 'The limit that ended the run: cpu_time, wall_time, memory, stdout, stderr.';
comment on column runledger.result.compile is 'How the compiler ended and what it used, as execution.completed says it; null without one.';
comment on column runledger.result.rerun_of is 'The first submission of which this is a rerun; null: it is none.';
comment on column runledger.result.slot_seconds is 'For so long its last attempt had a slot, as its worker measured it; null when it has not ended so.';
comment on column runledger.result.score is 'What its passed tests are worth, of max_score; both null where nothing has points, and unless it has completed.';
create index result_by_account on runledger.result (account_id, id desc);
create index result_by_tag on runledger.result (account_id, tag, id desc) where tag is not null;
-- An account's last ones: what its programs take (job.find_position).
create index result_by_end on runledger.result (account_id, finished_at desc) where slot_seconds is not null;

create type runledger.received_request as (
  n integer,
  api_key_id uuid,
  account_id uuid,
  weight integer,
  most integer,
  waiter text,
  batch jsonb
);
comment on type runledger.received_request is 'A request whose submissions are received, n being its place (runledger.store_received); most: that its key may have executing at once; batch: the webhook of all of them.';

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
comment on column runledger.idempotency.batch_answer is 'What a batch was answered, JSON; null for a single submission. submission_id is then its first good item.';
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
comment on table runledger.delivery is 'Webhooks asked for, by a submission or by a batch: where to, and the secret until delivery has ended. Attempts are events of the stream webhook_id.';
comment on column runledger.delivery.submission_id is 'Whose it is: a submission''s, or a batch''s (the stream that batch.received begins).';
comment on column runledger.delivery.url is 'The whole address, which may hold the caller''s secrets: a body like any other. Null once it was purged; the log has the host.';
comment on column runledger.delivery.state is 'waiting: the submission, or one of the batch, is unfinished; pending: an attempt is due; delivered or abandoned: over, the secret is gone.';
create index delivery_due on runledger.delivery (due_at) where state = 'pending';

-- Small and apart from the log, so that no index is built over that.
create table runledger.rerun (
  submission_id uuid primary key,
  rerun_of uuid not null,
  campaign text
);
comment on table runledger.rerun is 'Submissions that repeat another one. A cache of the view runledger.rerun_from_log, which defines it.';
comment on column runledger.rerun.rerun_of is 'The first submission: a rerun of a rerun names it, too.';
comment on column runledger.rerun.campaign is 'The name under which an operator repeated many; null: its caller asked for it.';
create unique index rerun_once_a_campaign on runledger.rerun (campaign, rerun_of) where campaign is not null;
comment on index runledger.rerun_once_a_campaign is 'A campaign repeats a submission once, however often it is begun.';
create index rerun_by_original on runledger.rerun (rerun_of);

create table runledger.kept_output (
  day date not null,
  account_id uuid not null references runledger.account (id),
  bytes bigint not null constraint kept_output_bytes check (bytes >= 0),
  constraint kept_output_pkey primary key (day, account_id)
);
comment on table runledger.kept_output is 'How much was kept of what an account''s runs have written, by days of UTC. Workers tell it every few seconds (runledger.count_output), so that no end of a submission waits for another one of its account; what a worker that is killed has not told is not counted. Days before yesterday are removed.';

create type runledger.ended_submission as (
  n bigint,
  waiters text[],
  notification text
);
comment on type runledger.ended_submission is 'A submission that has just ended, n being its place among those that end together, and what the channels of those who wait for it are sent (runledger.end_submissions).';

create type runledger.record as (
  id uuid,
  status text,
  verdict text,
  language text,
  runtime text,
  exit_code integer,
  signal text,
  stdout_truncated boolean,
  stderr_truncated boolean,
  cpu_time double precision,
  wall_time double precision,
  memory_peak bigint,
  created_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  purged_at timestamptz,
  stdout bytea,
  stderr bytea,
  compile_output bytea,
  webhook_id uuid,
  webhook_state text,
  webhook_attempts integer,
  next_attempt_at timestamptz,
  tag text,
  output_encoding text,
  exceeded text,
  compile jsonb,
  report bytea,
  rerun_of uuid,
  limits jsonb,
  attempt integer,
  cancel_requested_at timestamptz,
  webhook_failure jsonb,
  score double precision,
  max_score double precision
);
comment on type runledger.record is 'A submission as its caller reads it (runledger.read_result).';

-- Blobs: long inputs and expected outputs, uploaded once and named by their SHA-256 in submissions.

create table runledger.blob (
  account_id uuid not null references runledger.account (id),
  sha256 bytea not null constraint blob_sha256_length check (length(sha256) = 32),
  bytes integer not null constraint blob_bytes check (bytes between 0 and 16777216),
  created_at timestamptz not null default now(),
  used_at timestamptz not null default now(),
  constraint blob_pkey primary key (account_id, sha256)
);
comment on table runledger.blob is 'What an account has uploaded to name in submissions. Its bytes stand in blob_chunk. Which submission names which, runledger.body says; the log has that list''s hash (blob_list of submission.received).';
comment on column runledger.blob.used_at is 'When it was last uploaded or named, half a day or less before that moment: not every naming writes.';
create index blob_by_use on runledger.blob (used_at);

create table runledger.blob_chunk (
  account_id uuid not null,
  sha256 bytea not null,
  number integer not null constraint blob_chunk_number check (number >= 0),
  content bytea not null constraint blob_chunk_length check (length(content) <= 262144),
  constraint blob_chunk_pkey primary key (account_id, sha256, number),
  constraint blob_chunk_blob foreign key (account_id, sha256) references runledger.blob (account_id, sha256) on delete cascade
);
comment on table runledger.blob_chunk is 'The bytes of blobs: 256 KiB in each chunk but the last, numbered from 0. Written in the transaction that makes the blob, and never after it.';
-- A caller may have compressed them already, and nobody reads a part of a chunk.
alter table runledger.blob_chunk alter column content set storage external;

create table runledger.file_id (
  account_id uuid not null,
  id text not null constraint file_id_length check (length(id) between 1 and 200),
  sha256 bytea not null,
  named_at timestamptz not null default now(),
  constraint file_id_pkey primary key (account_id, id),
  constraint file_id_blob foreign key (account_id, sha256) references runledger.blob (account_id, sha256) on delete cascade
);
comment on table runledger.file_id is 'How an account calls blobs that came through a door whose clients choose ids. A row goes with its blob; a blob has 64 at most.';
create index file_id_by_blob on runledger.file_id (account_id, sha256);

-- Output that is sent while its program runs: what is watched, and what was published of it. Neither is part of the ledger:
-- the record of the end has it all. A crash empties both tables; web processes ask again, and workers publish all of it again.

create unlogged table runledger.watch (
  submission_id uuid not null,
  channel text not null,
  expires_at timestamptz not null,
  primary key (submission_id, channel)
);
comment on table runledger.watch is 'Submissions whose output web processes want while it is written. Unlogged: a crash empties it.';
comment on column runledger.watch.channel is 'Where the process is notified. Its name is secret.';
create index watch_by_expiry on runledger.watch (expires_at);

create unlogged table runledger.live_output (
  submission_id uuid not null,
  run text not null,
  seq integer not null,
  id text not null,
  event text not null constraint live_output_event check (event in ('compile', 'stdout', 'stderr', 'test')),
  data text not null,
  primary key (submission_id, run, seq)
);
-- Compressing what is read once costs more than it saves.
alter table runledger.live_output alter column data set storage external;
comment on table runledger.live_output is 'Events of runs that somebody watches, as streams send them. Gone when the submission has ended, as runledger.output has it then. Unlogged: a crash empties it.';
comment on column runledger.live_output.run is 'The attempt, as execution.started names it.';
comment on column runledger.live_output.seq is 'From 1, without a gap.';
comment on column runledger.live_output.id is 'Of the event, for Last-Event-ID.';
comment on column runledger.live_output.data is 'JSON.';

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
  is_lost boolean not null default false,
  suspended_at timestamptz,
  version text,
  isolation jsonb,
  suspended_because text,
  wanted text not null default 'working'
    constraint worker_wanted check (wanted in ('working', 'paused', 'drained', 'restarted'))
);
comment on table runledger.worker is 'Worker processes: one row a start. A live one holds the advisory lock (71830, lock_key) and renews its lease.';
comment on column runledger.worker.languages is 'What it runs: versions, command lines and limits of each language.';
comment on column runledger.worker.lease_seconds is 'A worker that has not renewed its lease for so long is lost. It renews thirty times in this time.';
comment on column runledger.worker.lock_key is 'Second key of the session advisory lock; a killed process frees it at once.';
comment on column runledger.worker.queue_pool_ids is 'graphile-worker''s ids of its pools, by which its locked jobs are freed.';
comment on column runledger.worker.renewed_at is 'The lease, by the database''s clock: a process that is frozen stops renewing it.';
comment on column runledger.worker.is_lost is 'Others gave it up (runledger.sweep_workers); false where it lives or ended by itself.';
comment on column runledger.worker.suspended_at is 'Since when it takes no submissions, because its sandbox failed; null when it takes them.';
comment on column runledger.worker.version is 'Of Runledger.';
comment on column runledger.worker.isolation is 'How its boxes are made: box (keeper), cgroup (v1 or v2), uid (slot or worker).';
comment on column runledger.worker.suspended_because is 'What failed, in the worker''s own words; null when it is not suspended.';
comment on column runledger.worker.wanted is 'What operators want of it: working; paused, it takes nothing; drained, it takes nothing and ends when it has finished what it has; restarted, the same and then it begins again under another id. Changed by runledger.command_worker alone.';
create index worker_alive on runledger.worker (renewed_at) where stopped_at is null;
