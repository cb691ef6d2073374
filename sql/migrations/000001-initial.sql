-- Defines everything that is stored: schemas, roles, types, tables, indexes. Every migration creates the functions, views and
-- grants again, from the folders beside this one.
--
-- The roles have no password and cannot log in: an operator grants them to login roles (docs/deploy.md). Where the migrating
-- role may not create roles (platform databases with one role), the roles do not exist and their grants are skipped.

-- The schema runledger exists already, because it contains the record of applied migrations.
comment on schema runledger is 'Tables and functions of the service. The log is runledger.event. Results, pending submissions, deliveries and reruns can be rebuilt from it. Accounts, digests of keys, idempotency keys, blobs, and the URL and secret of a webhook cannot.';

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
          null; -- a migration of another database of this cluster created the role at the same moment
      end;
    end if;
  end loop;
end
$$;

-- Accounts: their keys, their limits and their stored bytes.

create table runledger.account (
  id uuid primary key,
  name text not null constraint account_name_length check (length(name) between 1 and 200),
  created_at timestamptz not null default now(),
  blob_bytes bigint not null default 0 constraint account_blob_bytes check (blob_bytes >= 0),
  constraint account_name_key unique (name)
);
comment on table runledger.account is 'A customer. Submissions, results and idempotency keys belong to accounts.';
comment on column runledger.account.blob_bytes is 'The sum of runledger.count_blob over the account''s blobs. It is stored here so that one row enforces the quota.';

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
comment on table runledger.tier is 'The limits of an API key. runledger.define_tier creates and changes tiers and appends an event.';
comment on column runledger.tier.requests_per_minute is 'Requests in any 60 seconds; null is unlimited.';
comment on column runledger.tier.concurrent_executions is 'Submissions of one key executing at once; null is unlimited.';
comment on column runledger.tier.limits is 'The upper bounds of a submission''s own limits, for the run and for the compiler. A language''s default is always allowed.';
comment on column runledger.tier.blob_bytes is 'The most bytes of blobs that an account may have after an upload with a key of this tier; null is unlimited.';
comment on column runledger.tier.weight is 'The account''s share of the slots, as a multiple of the share of an account with weight 1.';
comment on column runledger.tier.total_seconds is 'The most seconds of wall time that a submission''s compiler, tests and checkers may take together.';
comment on column runledger.tier.output_bytes is 'The most bytes of an account''s outputs that are kept in a day. Of outputs beyond it, only the beginning is kept. Null is unlimited.';
comment on column runledger.tier.cores is 'The most cores that a box may use at once, bounded by the cores of its worker. Null: the worker''s share for a slot.';
comment on column runledger.tier.batch_items is 'The most submissions that a batch may hold.';

insert into runledger.tier (name, requests_per_minute, concurrent_executions, output_bytes)
values ('beta', 60, 10, 1073741824);
insert into runledger.tier (name, blob_bytes, total_seconds, batch_items, limits)
-- total_seconds cuts no single run short, because it is six times the longest wall limit.
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
comment on table runledger.api_key is 'API keys by digest. The key itself is shown once, when it is issued, and is not stored.';
comment on column runledger.api_key.label is 'The key''s first characters, enough for a person to distinguish keys.';
comment on column runledger.api_key.digest is 'SHA-256 of the whole key.';
comment on column runledger.api_key.role is 'submit: the key submits, and reads the account''s submissions. operator: the key inspects and controls the service, and submits nothing.';
comment on column runledger.api_key.read_only is 'True for an operator''s key that can only read.';
comment on column runledger.api_key.name is 'The name given when the key was issued; null: none. Several keys may have one name, for example a key and its successor.';
create index api_key_by_account on runledger.api_key (account_id);

create table runledger.rate_window (
  api_key_id uuid primary key references runledger.api_key (id),
  admitted_at timestamptz[] not null,
  requests integer[] not null
);
comment on table runledger.rate_window is 'When a key''s requests of the last 60 seconds were admitted, and how many at each time: a sliding window, shared by all web processes. Exact up to 100 requests; beyond that the requests of a quarter of a second share the time of the last one, so that the row stays small.';

-- The log. Rows are only added. Each row has a hash over its content and its predecessor's hash, so that audit.broken_chain
-- shows a changed, removed or inserted row.
--
-- The log is partitioned by stream, and so by time, because ids are UUID v7. A stream lies in one partition, and every
-- constraint names the stream, so partitioning weakens no constraint. An id that no partition covers (from a wrong clock, or
-- because a partition was not created in time) goes to the default partition, which works the same.

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
comment on table runledger.event is 'Everything that happened, append-only. The primary key prevents a second event at the same version of a stream.';
comment on column runledger.event.position is 'Order of insertion, which is not the order of commits. A cursor over the log must also use transaction_id.';
comment on column runledger.event.transaction_id is 'Lets a reader skip transactions that are still open: transaction_id < pg_snapshot_xmin(pg_current_snapshot()).';
comment on column runledger.event.stream_id is 'The subject of the event: a submission, a batch, a webhook, an API key, a tier or a worker.';
comment on column runledger.event.stream_version is '1, 2, 3 … within the stream, without gaps.';
comment on column runledger.event.metadata is 'Who and what caused the event: the request''s id, and as actor the key, worker, operator, signal or retention that acted, or the lost worker whose run was requeued (sweep_of).';
comment on column runledger.event.hash is 'SHA-256 over the previous event''s hash and this event''s content; see runledger.hash_event.';
create index event_by_position on runledger.event (position);
-- The same types as in runledger.closes_submission.
create unique index event_one_terminal on runledger.event (stream_id)
  where type in ('execution.completed', 'execution.abandoned', 'submission.cancelled');
comment on index runledger.event_one_terminal is 'A submission ends once.';
create index event_received on runledger.event (stream_id) where type = 'submission.received';

create table runledger.event_default partition of runledger.event default;
comment on table runledger.event_default is 'Events of streams that no other partition covers.';

create table runledger.partitioning (
  table_name text primary key constraint partitioning_table check (table_name in ('event', 'body', 'output')),
  width interval not null constraint partitioning_width check (width >= interval '1 minute'),
  ahead integer not null constraint partitioning_ahead check (ahead between 1 and 1000)
);
comment on table runledger.partitioning is 'How the growing tables are partitioned. An operator may change a row at any time. runledger.make_partitions reads it.';
comment on column runledger.partitioning.width is 'The time that a new partition covers; existing partitions do not change.';
comment on column runledger.partitioning.ahead is 'The number of partitions that are created before they are needed.';
-- Retention drops whole partitions of bodies and outputs. But a kept plan locks all partitions of a table on each call: a start
-- took ×1.16 and a read ×1.29 of their time with 44 partitions in place of 2. The log is kept, so it needs few.
insert into runledger.partitioning (table_name, width, ahead)
values ('event', '1 month', 3), ('body', '3 days', 3), ('output', '3 days', 3);

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
comment on table runledger.ledger_check is 'The one row in which runledger.check_ledger stores its findings and its progress.';
comment on column runledger.ledger_check.checked_at is 'When the last check ran; null before the first one.';
comment on column runledger.ledger_check.drift is 'Rows of audit.drift in the streams that the last check covered. broken_chain and invariant count the rows of the other two views.';
comment on column runledger.ledger_check.suspects is 'Streams with a finding. Every check covers them until nothing is found there any more.';
comment on column runledger.ledger_check.walked_up_to is 'The id that the walk through the whole log has reached.';
comment on column runledger.ledger_check.walked_at is 'When a walk last reached the end of the log; null before the first time.';
insert into runledger.ledger_check default values;

-- Submissions, beside the log: bodies, outputs, unfinished submissions, results, idempotency keys, deliveries, reruns.

create table runledger.body (
  submission_id uuid primary key,
  code bytea,
  stdin bytea,
  expected_stdout bytea,
  detail bytea,
  blobs bytea
) partition by range (submission_id);
comment on table runledger.body is 'The bytes that a submission was received with. They are kept apart from the log, so that retention can remove them while the log, which has their hashes, stays whole. No row: purged. Partitioned by id, and so by time.';
comment on column runledger.body.detail is 'The request''s other options, as JSON: arguments, files, limits. Null: none.';
create table runledger.body_default partition of runledger.body default;
comment on column runledger.body.blobs is 'The blobs that the submission names, each once: concatenated SHA-256 digests of 32 bytes each (runledger.list_blobs). Null: none.';
comment on table runledger.body_default is 'Bodies of submissions that no other partition covers.';

create table runledger.output (
  submission_id uuid primary key,
  stdout bytea,
  stderr bytea,
  compile_output bytea,
  report bytea
) partition by range (submission_id);
comment on table runledger.output is 'The output of a submission''s last attempt, written once, at its end. Kept apart from the log, partitioned and purged like runledger.body. No row: no attempt has a result, or the output is purged.';
comment on column runledger.output.report is 'The rest of the result, beside the outputs, as JSON. Null: nothing.';
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
  -- The log does not have the following columns.
  admitted boolean not null,
  position bigint,
  waiters text[],
  is_parked boolean not null default false
) with (fillfactor = 70);
comment on table runledger.pending is 'The state of each unfinished submission. A cache of the view runledger.pending_from_log, except for admitted, position, waiters and is_parked, which the log does not have. The transaction that ends a submission deletes its row.';
comment on column runledger.pending.is_low is 'The submission has low priority: it waits until no submission of normal priority waits.';
comment on column runledger.pending.requires is 'The part of submission.received that a worker must know before it starts the submission: limits, demands, checker_language, detail. Null: nothing.';
comment on column runledger.pending.admitted is 'True when the submission has a job; false while its key has as many executing as its tier allows.';
comment on column runledger.pending.position is 'Its position in the fair queue (job.find_position), which it keeps while it runs, unless it lends its slot (runledger.lend_slot). Null before admission, and for low priority.';
comment on column runledger.pending.version is 'The version of the last event of its stream, which the next event follows.';
comment on column runledger.pending.hash is 'The hash of the last event of its stream.';
comment on column runledger.pending.is_running is 'True when an attempt of the submission is under way.';
comment on column runledger.pending.is_cancelled is 'True when cancellation of the running attempt was requested (submission.cancel_requested).';
comment on column runledger.pending.attempts is 'The number of attempts that were started.';
comment on column runledger.pending.run is 'The id of the last attempt. worker_id, runtime, limits and started_at describe the same attempt.';
comment on column runledger.pending.batch_id is 'The batch that the submission belongs to, if the batch has a webhook.';
comment on column runledger.pending.waiters is 'Channels of the processes that wait for the end. They are notified after its commit.';
comment on column runledger.pending.is_parked is 'True when the attempt has lent its slot between two tests and waits, at its position, for a slot.';
-- In the order in which runledger.admit_waiting admits submissions.
create index pending_by_rank on runledger.pending (api_key_id, admitted, is_low, submission_id);
-- For job.find_position: an account's last position, the last position that runs, and the first of all positions.
create index pending_by_account on runledger.pending (account_id, position);
-- The second condition keeps this index out of other look-ups, whose plans would read all running submissions.
create index pending_running on runledger.pending (position) where is_running and position is not null;
-- For the sweep. Other look-ups do not ask for a worker, so this index, too, stays out of them.
create index pending_by_worker on runledger.pending (worker_id) where worker_id is not null;
create index pending_by_position on runledger.pending (position);
-- Shows whether a batch has unfinished members.
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
comment on table runledger.result is 'The result of each finished submission, written at its end; a purge of its bodies adds the time. A cache of the view runledger.result_from_log, which defines it; audit.drift shows the difference, which stays empty.';
comment on column runledger.result.version is 'The version of the stream that the row was made from.';
comment on column runledger.result.cpu_time is 'Seconds, user + system, of everything in the run''s cgroup.';
comment on column runledger.result.wall_time is 'Seconds, monotonic, program start to end.';
comment on column runledger.result.memory_peak is 'Bytes, the cgroup''s peak.';
comment on column runledger.result.purged_at is 'When the bodies were removed, by retention or at the caller''s request.';
comment on column runledger.result.tag is 'A text that the caller chose for the submission.';
comment on column runledger.result.output_encoding is 'How answers encode outputs: null for text, else base64.';
comment on column runledger.result.exceeded is 'The limit that ended the run: cpu_time, wall_time, memory, stdout, stderr or total_time.';
comment on column runledger.result.compile is 'The compiler''s result and resource use, from execution.completed; null without a compiler.';
comment on column runledger.result.rerun_of is 'The original submission that this one repeats; null: this is no rerun.';
comment on column runledger.result.slot_seconds is 'How long the last attempt had a slot, as its worker measured it. Null when the submission did not end with an attempt''s result.';
comment on column runledger.result.score is 'The points of the passed tests, out of max_score. Both are null where no test has points, and unless the submission has completed.';
create index result_by_account on runledger.result (account_id, id desc);
create index result_by_tag on runledger.result (account_id, tag, id desc) where tag is not null;
-- For job.find_position: how long an account's last programs took.
create index result_by_end on runledger.result (account_id, finished_at desc) where slot_seconds is not null;

create type runledger.submission_answer as (
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
comment on type runledger.submission_answer is 'A submission as its caller reads it (runledger.read_result), which is also what a notification of its end contains: result, outputs, last attempt and webhook.';

create type runledger.received_request as (
  n integer,
  api_key_id uuid,
  account_id uuid,
  weight integer,
  most integer,
  waiter text
);
comment on type runledger.received_request is 'A request whose submissions are being received (runledger.store_received). n: its number in the call; most: the most submissions of its key that may execute at once.';

create table runledger.idempotency (
  account_id uuid not null,
  key uuid not null,
  submission_id uuid not null,
  request_digest bytea not null,
  batch_answer text,
  created_at timestamptz not null default now(),
  primary key (account_id, key)
);
comment on table runledger.idempotency is 'Idempotency-Key headers of the last 24 hours. The primary key makes a repeated request harmless.';
comment on column runledger.idempotency.batch_answer is 'The answer to a batch, as JSON; null for a single submission. For a batch, submission_id is its first valid item.';
comment on column runledger.idempotency.request_digest is 'SHA-256 of the parsed request, which distinguishes a replay from a different request under the same key.';
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
comment on table runledger.delivery is 'Webhooks requested by a submission or a batch: the address, and the secret until delivery has ended. Attempts are events of the stream webhook_id.';
comment on column runledger.delivery.submission_id is 'The submission or the batch that the webhook reports; a batch is named by the stream of its batch.received.';
comment on column runledger.delivery.url is 'The whole address, which may contain the caller''s secrets, so it is purged like a body. Null once it is purged; the log has the host.';
comment on column runledger.delivery.state is 'waiting: the submission, or a member of the batch, is unfinished. pending: an attempt is due or scheduled. delivered, abandoned: delivery has ended and the secret is removed.';
create index delivery_due on runledger.delivery (due_at) where state = 'pending';

-- A small table apart from the log, so that the log needs no index for reruns.
create table runledger.rerun (
  submission_id uuid primary key,
  rerun_of uuid not null,
  campaign text
);
comment on table runledger.rerun is 'Submissions that repeat another one. A cache of the view runledger.rerun_from_log, which defines it.';
comment on column runledger.rerun.rerun_of is 'The original submission; a rerun of a rerun names the same original.';
comment on column runledger.rerun.campaign is 'The name under which an operator repeated many submissions; null: the caller asked for this rerun.';
create unique index rerun_once_a_campaign on runledger.rerun (campaign, rerun_of) where campaign is not null;
comment on index runledger.rerun_once_a_campaign is 'A campaign repeats a submission once, however often the campaign is started.';
create index rerun_by_original on runledger.rerun (rerun_of);

create table runledger.kept_output (
  day date not null,
  account_id uuid not null references runledger.account (id),
  bytes bigint not null constraint kept_output_bytes check (bytes >= 0),
  constraint kept_output_pkey primary key (day, account_id)
);
comment on table runledger.kept_output is 'Bytes kept of the outputs of an account''s runs, by day (UTC). Workers report them every few seconds (runledger.count_output), so that the ends of an account''s submissions do not wait for each other. Bytes that a killed worker has not reported are not counted. Days before yesterday are removed.';

create type runledger.ended_submission as (
  n bigint,
  waiters text[],
  notification text
);
comment on type runledger.ended_submission is 'A submission that has just ended (runledger.end_submissions). n: its number in the call; waiters: the channels to notify; notification: the payload to send to them, if it is short enough.';

-- Blobs: long inputs and expected outputs. A caller uploads them once and names them in submissions by their SHA-256.

create table runledger.blob (
  account_id uuid not null references runledger.account (id),
  sha256 bytea not null constraint blob_sha256_length check (length(sha256) = 32),
  bytes integer not null constraint blob_bytes check (bytes between 0 and 16777216),
  created_at timestamptz not null default now(),
  used_at timestamptz not null default now(),
  constraint blob_pkey primary key (account_id, sha256)
);
comment on table runledger.blob is 'Files that an account has uploaded to name in submissions. blob_chunk has their bytes. runledger.body says which submission names which blob; the log has the hash of that list (blob_list of submission.received).';
comment on column runledger.blob.used_at is 'When the blob was last uploaded or named, or up to half a day before that, because not every use writes.';
create index blob_by_use on runledger.blob (used_at);

create table runledger.blob_chunk (
  account_id uuid not null,
  sha256 bytea not null,
  number integer not null constraint blob_chunk_number check (number >= 0),
  content bytea not null constraint blob_chunk_length check (length(content) <= 262144),
  constraint blob_chunk_pkey primary key (account_id, sha256, number),
  constraint blob_chunk_blob foreign key (account_id, sha256) references runledger.blob (account_id, sha256) on delete cascade
);
comment on table runledger.blob_chunk is 'The bytes of blobs: 256 KiB in each chunk but the last, numbered from 0. The transaction that creates the blob writes them; they never change afterwards.';
-- A caller may have compressed the content already, and no reader needs a part of a chunk.
alter table runledger.blob_chunk alter column content set storage external;

create table runledger.file_id (
  account_id uuid not null,
  id text not null constraint file_id_length check (length(id) between 1 and 200),
  sha256 bytea not null,
  named_at timestamptz not null default now(),
  constraint file_id_pkey primary key (account_id, id),
  constraint file_id_blob foreign key (account_id, sha256) references runledger.blob (account_id, sha256) on delete cascade
);
comment on table runledger.file_id is 'Ids by which an account names blobs that came through a door (docs/doors.md) whose clients choose ids. A row is deleted with its blob; a blob has at most 64 ids.';
create index file_id_by_blob on runledger.file_id (account_id, sha256);

-- Live output: the submissions that are watched, and their published events. Neither table is part of the ledger, because the
-- result has the whole output. A crash empties both tables; web processes then watch again, and workers publish it all again.

create unlogged table runledger.watch (
  submission_id uuid not null,
  channel text not null,
  expires_at timestamptz not null,
  primary key (submission_id, channel)
);
comment on table runledger.watch is 'Submissions whose output web processes want while the program runs. Unlogged: a crash empties the table.';
comment on column runledger.watch.channel is 'The channel that notifies the web process. Its name is secret.';
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
-- Data that is read once is not worth compressing.
alter table runledger.live_output alter column data set storage external;
comment on table runledger.live_output is 'Events of watched runs, in the form in which streams send them. They are removed when the submission has ended, because runledger.output then has the output. Unlogged: a crash empties the table.';
comment on column runledger.live_output.run is 'The id of the attempt, as in execution.started.';
comment on column runledger.live_output.seq is 'The number of the event in its attempt: 1, 2, 3 … without gaps.';
comment on column runledger.live_output.id is 'The id of the event, for Last-Event-ID.';
comment on column runledger.live_output.data is 'The data of the event, as JSON.';

-- Workers, as they report themselves. The runs of a worker that is not alive are lost.

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
comment on table runledger.worker is 'Worker processes: one row for each start. A live worker holds the advisory lock (71830, lock_key) and renews its lease.';
comment on column runledger.worker.languages is 'The languages that the worker runs, each with its version, command lines and limits.';
comment on column runledger.worker.lease_seconds is 'A worker that has not renewed its lease for this long is lost. It renews thirty times in this time.';
comment on column runledger.worker.lock_key is 'Second key of the session advisory lock, which PostgreSQL frees at once when the process is killed.';
comment on column runledger.worker.queue_pool_ids is 'graphile-worker''s ids of the worker''s pools; its locked jobs are freed by them.';
comment on column runledger.worker.renewed_at is 'When the lease was last renewed, by the database''s clock. A frozen process stops renewing.';
comment on column runledger.worker.is_lost is 'True when another process declared the worker lost (runledger.sweep_workers); false while it lives or when it ended by itself.';
comment on column runledger.worker.suspended_at is 'Since when the worker takes no submissions, because its sandbox failed; null when it takes them.';
comment on column runledger.worker.version is 'The version of Runledger.';
comment on column runledger.worker.isolation is 'How the worker''s boxes are made: box (keeper), cgroup (v1 or v2), uid (slot or worker).';
comment on column runledger.worker.suspended_because is 'What failed, as the worker describes it; null when the worker is not suspended.';
comment on column runledger.worker.wanted is 'What operators want of the worker. working; paused: it takes nothing; drained: it takes nothing and ends when its submissions have finished; restarted: it drains and then starts again under another id. Only runledger.command_worker changes it.';
create index worker_alive on runledger.worker (renewed_at) where stopped_at is null;

create table runledger.sweep (
  single boolean primary key default true constraint sweep_single check (single),
  swept_at timestamptz not null
);
comment on table runledger.sweep is 'The one row that says when lost workers were last looked for (runledger.sweep_workers).';
