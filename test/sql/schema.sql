-- The schema as it stands after all migrations. Made by test/helper/schema.ts; do not edit.

partitioned table runledger.body
  The bytes that a submission was received with. Kept apart from the log so that retention can remove them while the log, which has their hashes, stays whole. No row: purged. Partitioned by id, which is by time.
  submission_id uuid not null
  code bytea
  stdin bytea
  expected_stdout bytea
  detail bytea: What was asked beside code and input, as JSON: arguments, files, limits. Null: nothing.
  blobs bytea: The blobs that it names, each once: SHA-256 after SHA-256, 32 bytes each (runledger.list_blobs). Null: none.
  partition by RANGE (submission_id)
  constraint body_pkey PRIMARY KEY (submission_id)
  grant select to runledger_api
  grant select to runledger_worker

partitioned table runledger.event
  Everything that happened, append only. The primary key makes a second event at one version impossible.
  position bigint not null default nextval('runledger.event_position'::regclass): Order of insertion; not the order of commits. A cursor over the log must also use transaction_id.
  transaction_id xid8 not null default pg_current_xact_id(): Lets a reader wait out transactions still open: transaction_id < pg_snapshot_xmin(pg_current_snapshot()).
  stream_id uuid not null: What it happened to: a submission, a batch, a webhook, an API key, a tier, a worker.
  stream_version integer not null: 1, 2, 3 … within the stream, without gaps.
  type text not null
  schema_version integer not null
  data jsonb not null
  metadata jsonb not null: Who and what caused it: the request's id, and as actor the key, the worker, the operator, the signal or the retention that acted, or the lost worker whose run was given back (sweep_of).
  recorded_at timestamp with time zone not null
  hash bytea not null: sha256 over the previous event's hash and this event's content; see runledger.hash_event.
  partition by RANGE (stream_id)
  constraint event_pkey PRIMARY KEY (stream_id, stream_version)
  INDEX event_by_position ON ONLY runledger.event USING btree ("position")
  UNIQUE INDEX event_one_terminal ON ONLY runledger.event USING btree (stream_id) WHERE (type = ANY (ARRAY['execution.completed'::text, 'execution.abandoned'::text, 'submission.cancelled'::text])): A submission ends once.
  INDEX event_received ON ONLY runledger.event USING btree (stream_id) WHERE (type = 'submission.received'::text)
  TRIGGER event_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON runledger.event FOR EACH STATEMENT EXECUTE FUNCTION runledger.refuse_change()
  grant select to runledger_api

partitioned table runledger.output
  What a submission's last attempt printed, written once, with its end; beside the log and partitioned as runledger.body is, and purged with it. No row: no attempt has ended, or purged.
  submission_id uuid not null
  stdout bytea
  stderr bytea
  compile_output bytea
  report bytea: What is told of the end beside the outputs, as JSON. Null: nothing.
  partition by RANGE (submission_id)
  constraint output_pkey PRIMARY KEY (submission_id)
  grant select to runledger_api
  grant select to runledger_worker

table runledger.account
  A customer. Submissions, results and idempotency keys belong to accounts.
  id uuid not null
  name text not null
  created_at timestamp with time zone not null default now()
  blob_bytes bigint not null default 0: The sum of runledger.count_blob over its blobs, so that a quota is held against one row.
  constraint account_blob_bytes CHECK ((blob_bytes >= 0))
  constraint account_name_key UNIQUE (name)
  constraint account_name_length CHECK (((length(name) >= 1) AND (length(name) <= 200)))
  constraint account_pkey PRIMARY KEY (id)
  grant select (blob_bytes) to runledger_api

table runledger.api_key
  API keys by digest. The key itself is shown once, when it is issued, and stored nowhere.
  id uuid not null
  account_id uuid not null
  tier text not null
  label text not null: The key's first characters, enough for a person to tell keys apart.
  digest bytea not null: SHA-256 of the whole key.
  created_at timestamp with time zone not null default now()
  expires_at timestamp with time zone
  revoked_at timestamp with time zone
  role text not null default 'submit'::text: submit: it submits, and reads what its account has; operator: it looks at the service and steers it, and submits nothing.
  read_only boolean not null default false: An operator's that looks alone.
  name text: Said of it when it was issued; several may have one name, as a key and its successor do. Null: it has none.
  constraint api_key_account_id_fkey FOREIGN KEY (account_id) REFERENCES runledger.account(id)
  constraint api_key_digest_key UNIQUE (digest)
  constraint api_key_digest_length CHECK ((length(digest) = 32))
  constraint api_key_name CHECK ((((length(name) >= 1) AND (length(name) <= 64)) AND (name !~ '[[:cntrl:]]'::text)))
  constraint api_key_pkey PRIMARY KEY (id)
  constraint api_key_read_only CHECK (((role = 'operator'::text) OR (NOT read_only)))
  constraint api_key_role CHECK ((role = ANY (ARRAY['submit'::text, 'operator'::text])))
  constraint api_key_tier_fkey FOREIGN KEY (tier) REFERENCES runledger.tier(name)
  INDEX api_key_by_account ON runledger.api_key USING btree (account_id)

table runledger.blob
  What an account has uploaded to name in submissions. Its bytes stand in blob_chunk. Which submission names which, runledger.body says; the log has that list's hash (blob_list of submission.received).
  account_id uuid not null
  sha256 bytea not null
  bytes integer not null
  created_at timestamp with time zone not null default now()
  used_at timestamp with time zone not null default now(): When it was last uploaded or named, half a day or less before that moment: not every naming writes.
  constraint blob_account_id_fkey FOREIGN KEY (account_id) REFERENCES runledger.account(id)
  constraint blob_bytes CHECK (((bytes >= 0) AND (bytes <= 16777216)))
  constraint blob_pkey PRIMARY KEY (account_id, sha256)
  constraint blob_sha256_length CHECK ((length(sha256) = 32))
  INDEX blob_by_use ON runledger.blob USING btree (used_at)
  grant select (account_id, sha256, bytes) to runledger_api

table runledger.blob_chunk
  The bytes of blobs: 256 KiB in each chunk but the last, numbered from 0. Written in the transaction that makes the blob, and never after it.
  account_id uuid not null
  sha256 bytea not null
  number integer not null
  content bytea not null
  constraint blob_chunk_blob FOREIGN KEY (account_id, sha256) REFERENCES runledger.blob(account_id, sha256) ON DELETE CASCADE
  constraint blob_chunk_length CHECK ((length(content) <= 262144))
  constraint blob_chunk_number CHECK ((number >= 0))
  constraint blob_chunk_pkey PRIMARY KEY (account_id, sha256, number)
  grant select to runledger_worker

table runledger.body_default
  Bodies of submissions that no other partition covers.
  submission_id uuid not null
  code bytea
  stdin bytea
  expected_stdout bytea
  detail bytea
  blobs bytea
  constraint body_default_pkey PRIMARY KEY (submission_id)

table runledger.delivery
  Webhooks asked for, by a submission or by a batch: where to, and the secret until delivery has ended. Attempts are events of the stream webhook_id.
  submission_id uuid not null: Whose it is: a submission's, or a batch's (the stream that batch.received begins).
  webhook_id uuid not null
  url text: The whole address, which may hold the caller's secrets: a body like any other. Null once it was purged; the log has the host.
  secret text
  attempts integer not null default 0
  state text not null default 'waiting'::text: waiting: the submission, or one of the batch, is unfinished; pending: an attempt is due; delivered or abandoned: over, the secret is gone.
  due_at timestamp with time zone
  constraint delivery_pkey PRIMARY KEY (submission_id)
  constraint delivery_state CHECK ((state = ANY (ARRAY['waiting'::text, 'pending'::text, 'delivered'::text, 'abandoned'::text])))
  constraint delivery_webhook_key UNIQUE (webhook_id)
  INDEX delivery_due ON runledger.delivery USING btree (due_at) WHERE (state = 'pending'::text)
  grant select (submission_id, webhook_id, attempts, state, due_at) to runledger_api

table runledger.event_default
  Events of streams that no other partition covers.
  position bigint not null default nextval('runledger.event_position'::regclass)
  transaction_id xid8 not null default pg_current_xact_id()
  stream_id uuid not null
  stream_version integer not null
  type text not null
  schema_version integer not null
  data jsonb not null
  metadata jsonb not null
  recorded_at timestamp with time zone not null
  hash bytea not null
  constraint event_default_pkey PRIMARY KEY (stream_id, stream_version)
  INDEX event_default_position_idx ON runledger.event_default USING btree ("position")
  UNIQUE INDEX event_default_stream_id_idx ON runledger.event_default USING btree (stream_id) WHERE (type = ANY (ARRAY['execution.completed'::text, 'execution.abandoned'::text, 'submission.cancelled'::text]))
  INDEX event_default_stream_id_idx1 ON runledger.event_default USING btree (stream_id) WHERE (type = 'submission.received'::text)
  TRIGGER event_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON runledger.event_default FOR EACH STATEMENT EXECUTE FUNCTION runledger.refuse_change()

table runledger.file_id
  How an account calls blobs that came through a door whose clients choose ids. A row goes with its blob; a blob has 64 at most.
  account_id uuid not null
  id text not null
  sha256 bytea not null
  named_at timestamp with time zone not null default now()
  constraint file_id_blob FOREIGN KEY (account_id, sha256) REFERENCES runledger.blob(account_id, sha256) ON DELETE CASCADE
  constraint file_id_length CHECK (((length(id) >= 1) AND (length(id) <= 200)))
  constraint file_id_pkey PRIMARY KEY (account_id, id)
  INDEX file_id_by_blob ON runledger.file_id USING btree (account_id, sha256)

table runledger.idempotency
  Idempotency-Key headers of the last 24 hours. The primary key is what makes a repeated request harmless.
  account_id uuid not null
  key uuid not null
  submission_id uuid not null
  request_digest bytea not null: SHA-256 of the parsed request, to tell a replay from a different request under the same key.
  batch_answer text: What a batch was answered, JSON; null for a single submission. submission_id is then its first good item.
  created_at timestamp with time zone not null default now()
  constraint idempotency_pkey PRIMARY KEY (account_id, key)
  INDEX idempotency_by_age ON runledger.idempotency USING btree (created_at)

table runledger.kept_output
  How much was kept of what an account's runs have written, by days of UTC. Workers tell it every few seconds (runledger.count_output), so that no end of a submission waits for another one of its account; what a worker that is killed has not told is not counted. Days before yesterday are removed.
  day date not null
  account_id uuid not null
  bytes bigint not null
  constraint kept_output_account_id_fkey FOREIGN KEY (account_id) REFERENCES runledger.account(id)
  constraint kept_output_bytes CHECK ((bytes >= 0))
  constraint kept_output_pkey PRIMARY KEY (day, account_id)

table runledger.ledger_check
  The one row in which runledger.check_ledger keeps what it found and how far it has come.
  single boolean not null default true
  checked_at timestamp with time zone: When it last looked; null before the first time.
  drift bigint not null default 0: Rows that audit.drift has of the streams that were looked at; broken_chain and invariant likewise.
  broken_chain bigint not null default 0
  invariant bigint not null default 0
  suspects uuid[] not null default '{}'::uuid[]: Where something was found: looked at every time, until nothing is found there any more.
  walked_up_to uuid not null default '00000000-0000-0000-0000-000000000000'::uuid: The walk through the whole log has come to this id.
  walked_at timestamp with time zone: When a walk last came to the end of the log; null before the first time.
  constraint ledger_check_pkey PRIMARY KEY (single)
  constraint ledger_check_single CHECK (single)
  grant select to runledger_api

table runledger.live_output
  Events of runs that somebody watches, as streams send them. Gone when the submission has ended, as runledger.output has it then. Unlogged: a crash empties it.
  submission_id uuid not null
  run text not null: The attempt, as execution.started names it.
  seq integer not null: From 1, without a gap.
  id text not null: Of the event, for Last-Event-ID.
  event text not null
  data text not null: JSON.
  constraint live_output_event CHECK ((event = ANY (ARRAY['compile'::text, 'stdout'::text, 'stderr'::text, 'test'::text])))
  constraint live_output_pkey PRIMARY KEY (submission_id, run, seq)

table runledger.output_default
  Outputs of submissions that no other partition covers.
  submission_id uuid not null
  stdout bytea
  stderr bytea
  compile_output bytea
  report bytea
  constraint output_default_pkey PRIMARY KEY (submission_id)

table runledger.partitioning
  How the tables that grow are divided; an operator may change a row at any time. runledger.make_partitions reads it.
  table_name text not null
  width interval not null: The time that one new partition covers; those that exist stay as they are.
  ahead integer not null: So many partitions are made before they are needed.
  constraint partitioning_ahead CHECK (((ahead >= 1) AND (ahead <= 1000)))
  constraint partitioning_pkey PRIMARY KEY (table_name)
  constraint partitioning_table CHECK ((table_name = ANY (ARRAY['event'::text, 'body'::text, 'output'::text])))
  constraint partitioning_width CHECK ((width >= '00:01:00'::interval))

table runledger.pending
  Where each unfinished submission stands. A cache of the view runledger.pending_from_log, but for admitted, position, waiters and is_parked, which the log does not have. Deleted by the transaction that ends it.
  submission_id uuid not null
  account_id uuid not null
  api_key_id uuid not null
  language text not null
  is_low boolean not null default false: It waits until none waits that is not.
  requires jsonb: What a worker must know before it starts it, as submission.received says it: limits, demands, checker_language, detail. Null: nothing.
  version integer not null: Of the last event of its stream, which the next one follows.
  hash bytea not null: Of the last event of its stream.
  is_running boolean not null default false: An attempt of it is under way.
  is_cancelled boolean not null default false: The end of that attempt was asked for (submission.cancel_requested).
  attempts integer not null default 0: How many were started.
  run text: The last attempt's name; worker_id, runtime, limits and started_at are of it too.
  worker_id uuid
  runtime text
  limits jsonb
  created_at timestamp with time zone not null
  started_at timestamp with time zone
  tag text
  output_encoding text
  rerun_of uuid
  batch_id uuid: The batch of which it is a member, if that has a webhook.
  admitted boolean not null: True when it has a job; false while its key has as many executing as its tier allows.
  position bigint: Its place in the fair queue, which it keeps while it runs (job.find_position) and has not lent its slot (runledger.lend_slot); null before it is admitted, and of a low one.
  waiters text[]: Channels of the processes that wait for the end, which are notified of it after its commit.
  is_parked boolean not null default false: It runs, and has lent its slot between two tests: it waits for one at its position.
  constraint pending_pkey PRIMARY KEY (submission_id)
  INDEX pending_by_account ON runledger.pending USING btree (account_id, "position")
  INDEX pending_by_batch ON runledger.pending USING btree (batch_id) WHERE (batch_id IS NOT NULL)
  INDEX pending_by_position ON runledger.pending USING btree ("position")
  INDEX pending_by_rank ON runledger.pending USING btree (api_key_id, admitted, is_low, submission_id)
  INDEX pending_running ON runledger.pending USING btree ("position") WHERE (is_running AND ("position" IS NOT NULL))
  grant select (submission_id, is_cancelled) to runledger_worker

table runledger.rate_window
  When a key's requests of the last 60 seconds were admitted: an exact sliding window, shared by all web processes.
  api_key_id uuid not null
  admitted_at timestamp with time zone[] not null
  constraint rate_window_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES runledger.api_key(id)
  constraint rate_window_pkey PRIMARY KEY (api_key_id)

table runledger.rerun
  Submissions that repeat another one. A cache of the view runledger.rerun_from_log, which defines it.
  submission_id uuid not null
  rerun_of uuid not null: The first submission: a rerun of a rerun names it, too.
  campaign text: The name under which an operator repeated many; null: its caller asked for it.
  constraint rerun_pkey PRIMARY KEY (submission_id)
  INDEX rerun_by_original ON runledger.rerun USING btree (rerun_of)
  UNIQUE INDEX rerun_once_a_campaign ON runledger.rerun USING btree (campaign, rerun_of) WHERE (campaign IS NOT NULL): A campaign repeats a submission once, however often it is begun.

table runledger.result
  What became of each finished submission, written once, at its end. A cache of the view runledger.result_from_log, which defines it; audit.drift is their difference and stays empty.
  id uuid not null
  account_id uuid not null
  api_key_id uuid not null
  version integer not null: The stream version it was made from.
  status text not null
  verdict text
  language text not null
  runtime text
  exit_code integer
  signal text
  stdout_truncated boolean
  stderr_truncated boolean
  cpu_time double precision: Seconds, user + system, of everything in the run's cgroup.
  wall_time double precision: Seconds, monotonic, program start to end.
  memory_peak bigint: Bytes, the cgroup's peak.
  created_at timestamp with time zone not null
  started_at timestamp with time zone
  finished_at timestamp with time zone not null
  purged_at timestamp with time zone: When retention removed the bodies.
  tag text: The caller's own word for it.
  output_encoding text: How outputs are told: null is as text, else base64.
  exceeded text: The limit that ended the run: cpu_time, wall_time, memory, stdout, stderr.
  compile jsonb: How the compiler ended and what it used, as execution.completed says it; null without one.
  rerun_of uuid: The first submission of which this is a rerun; null: it is none.
  slot_seconds double precision: For so long its last attempt had a slot, as its worker measured it; null when it has not ended so.
  score double precision: What its passed tests are worth, of max_score; both null where nothing has points, and unless it has completed.
  max_score double precision
  constraint result_pkey PRIMARY KEY (id)
  constraint result_status CHECK ((status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])))
  constraint result_verdict CHECK ((verdict = ANY (ARRAY['AC'::text, 'WA'::text, 'CE'::text, 'RE'::text, 'TLE'::text, 'MLE'::text, 'OLE'::text, 'IE'::text])))
  INDEX result_by_account ON runledger.result USING btree (account_id, id DESC)
  INDEX result_by_end ON runledger.result USING btree (account_id, finished_at DESC) WHERE (slot_seconds IS NOT NULL)
  INDEX result_by_tag ON runledger.result USING btree (account_id, tag, id DESC) WHERE (tag IS NOT NULL)
  grant select to runledger_api
  grant select to runledger_worker

table runledger.schema_migration
  Which migrations were applied, and the hash of each file: an edited one is refused.
  name text not null
  sha256 text not null
  applied_at timestamp with time zone not null default now()
  constraint schema_migration_pkey PRIMARY KEY (name)
  grant select to runledger_api
  grant select to runledger_worker

table runledger.tier
  What a key may use. runledger.define_tier makes one and changes it, with an event.
  name text not null
  requests_per_minute integer: Requests in any 60 seconds; null is unlimited.
  concurrent_executions integer: Submissions of one key executing at once; null is unlimited.
  limits jsonb not null default '{"disk": 268435456, "memory": 1073741824, "stderr": 1048576, "stdout": 2097152, "cpu_time": 15, "processes": 256, "wall_time": 30}'::jsonb: The most that a submission's own limits may be, for the run and for the compiler; a language's default is always allowed.
  blob_bytes bigint default 268435456: The most that an account may have in blobs when a key of this tier uploads another; null is unlimited.
  weight integer not null default 1: How many times an account's share of the slots that of weight 1 is.
  total_seconds integer not null default 600: What a submission's compiler, tests and checkers may run in all, in seconds by the clock.
  output_bytes bigint: The most that is kept in a day of what the runs of an account have written; of what comes after it only the beginning is. Null is unlimited.
  cores integer: That a box may use at once, of those that its worker has; null: the worker's share for a slot.
  batch_items integer not null default 20: The most submissions that a batch may hold.
  constraint tier_batch_items CHECK (((batch_items >= 1) AND (batch_items <= 1000)))
  constraint tier_blob_bytes CHECK ((blob_bytes > 0))
  constraint tier_cores CHECK (((cores >= 1) AND (cores <= 1024)))
  constraint tier_executions CHECK ((concurrent_executions > 0))
  constraint tier_limits CHECK ((jsonb_typeof(limits) = 'object'::text))
  constraint tier_output_bytes CHECK ((output_bytes > 0))
  constraint tier_pkey PRIMARY KEY (name)
  constraint tier_requests CHECK ((requests_per_minute > 0))
  constraint tier_total_seconds CHECK (((total_seconds >= 1) AND (total_seconds <= 86400)))
  constraint tier_weight CHECK (((weight >= 1) AND (weight <= 1000)))

table runledger.watch
  Submissions whose output web processes want while it is written. Unlogged: a crash empties it.
  submission_id uuid not null
  channel text not null: Where the process is notified. Its name is secret.
  expires_at timestamp with time zone not null
  constraint watch_pkey PRIMARY KEY (submission_id, channel)
  INDEX watch_by_expiry ON runledger.watch USING btree (expires_at)
  grant select (submission_id, expires_at) to runledger_worker

table runledger.worker
  Worker processes: one row a start. A live one holds the advisory lock (71830, lock_key) and renews its lease.
  id uuid not null
  host text not null
  pid integer not null
  slots integer not null
  languages jsonb not null: What it runs: versions, command lines and limits of each language.
  lease_seconds double precision not null: A worker that has not renewed its lease for so long is lost. It renews thirty times in this time.
  lock_key integer not null generated always as identity: Second key of the session advisory lock; a killed process frees it at once.
  queue_pool_ids text[] not null default '{}'::text[]: graphile-worker's ids of its pools, by which its locked jobs are freed.
  started_at timestamp with time zone not null default now()
  renewed_at timestamp with time zone not null default now(): The lease, by the database's clock: a process that is frozen stops renewing it.
  stopped_at timestamp with time zone
  is_lost boolean not null default false: Others gave it up (runledger.sweep_workers); false where it lives or ended by itself.
  suspended_at timestamp with time zone: Since when it takes no submissions, because its sandbox failed; null when it takes them.
  version text: Of Runledger.
  isolation jsonb: How its boxes are made: box (keeper), cgroup (v1 or v2), uid (slot or worker).
  suspended_because text: What failed, in the worker's own words; null when it is not suspended.
  wanted text not null default 'working'::text: What operators want of it: working; paused, it takes nothing; drained, it takes nothing and ends when it has finished what it has; restarted, the same and then it begins again under another id. Changed by runledger.command_worker alone.
  constraint worker_lease CHECK ((lease_seconds > (0)::double precision))
  constraint worker_pkey PRIMARY KEY (id)
  constraint worker_wanted CHECK ((wanted = ANY (ARRAY['working'::text, 'paused'::text, 'drained'::text, 'restarted'::text])))
  INDEX worker_alive ON runledger.worker USING btree (renewed_at) WHERE (stopped_at IS NULL)

type runledger.ended_submission
  A submission that has just ended, n being its place among those that end together, and what the channels of those who wait for it are sent (runledger.end_submissions).
  n bigint
  waiters text[]
  notification text

type runledger.new_event
  An event that is to be appended (runledger.append_events).
  stream_id uuid
  stream_version integer
  type text
  schema_version integer
  data jsonb
  metadata jsonb
  previous_hash bytea: The hash of the event before it; null for the first one.

type runledger.received_request
  A request whose submissions are received, n being its place (runledger.store_received); most: that its key may have executing at once; batch: the webhook of all of them.
  n integer
  api_key_id uuid
  account_id uuid
  weight integer
  most integer
  waiter text
  batch jsonb

type runledger.record
  A submission as its caller reads it (runledger.read_result).
  id uuid
  status text
  verdict text
  language text
  runtime text
  exit_code integer
  signal text
  stdout_truncated boolean
  stderr_truncated boolean
  cpu_time double precision
  wall_time double precision
  memory_peak bigint
  created_at timestamp with time zone
  started_at timestamp with time zone
  finished_at timestamp with time zone
  purged_at timestamp with time zone
  stdout bytea
  stderr bytea
  compile_output bytea
  webhook_id uuid
  webhook_state text
  webhook_attempts integer
  next_attempt_at timestamp with time zone
  tag text
  output_encoding text
  exceeded text
  compile jsonb
  report bytea
  rerun_of uuid
  limits jsonb
  attempt integer
  cancel_requested_at timestamp with time zone
  webhook_failure jsonb
  score double precision
  max_score double precision

sequence runledger.event_position
  Numbers events. An identity column would need PostgreSQL 17 on a partitioned table.

view audit.account
  Accounts. blob_bytes: what their blobs count; output_bytes_today: what was kept today (UTC) of what their runs have written, some seconds ago.
  id uuid
  name text
  created_at timestamp with time zone
  blob_bytes bigint
  output_bytes_today bigint
  grant select to runledger_api
  grant select to runledger_auditor

view audit.altered_body
  Code, inputs, outputs and what else belongs to them whose bytes are not those whose hash the log has; empty when nobody touched them.
  submission_id uuid
  part text
  logged_sha256 text
  sha256 text
  grant select to runledger_auditor

view audit.api_key
  API keys without anything secret; label is the key's first characters.
  id uuid
  account text
  label text
  tier text
  created_at timestamp with time zone
  expires_at timestamp with time zone
  revoked_at timestamp with time zone
  role text
  read_only boolean
  name text
  grant select to runledger_api
  grant select to runledger_auditor

view audit.blob
  A blob: whose it is, its SHA-256 and size, when it was uploaded, and when it was last used (to within half a day). Never the bytes.
  account text
  account_id uuid
  sha256 text
  bytes integer
  created_at timestamp with time zone
  used_at timestamp with time zone
  grant select to runledger_auditor

view audit.body
  Whether a submission's bytes are still kept, and their sizes and hashes as they stand now, to hold against those in its events. Never the bytes.
  submission_id uuid
  kept boolean
  code_bytes integer
  stdin_bytes integer
  expected_stdout_bytes integer
  stdout_bytes integer
  stderr_bytes integer
  compile_output_bytes integer
  code_sha256 text
  stdin_sha256 text
  stdout_sha256 text
  stderr_sha256 text
  purged_at timestamp with time zone
  detail_bytes integer
  report_bytes integer
  grant select to runledger_auditor

view audit.broken_chain
  Events that were changed, or whose predecessor was changed or removed, since they were written; empty when nobody did. With a condition on stream_id only that part of the log is read.
  position bigint
  stream_id uuid
  stream_version integer
  type text
  recorded_at timestamp with time zone
  grant select to runledger_api
  grant select to runledger_auditor

view audit.drift
  Where a table differs from the log that it is made from: the row as it stands, and as the log says it should be. Empty when all is well; `rebuild` repairs it.
  projection text
  id uuid
  cached jsonb
  in_the_log jsonb
  grant select to runledger_auditor

view audit.event
  The log itself. Filter by stream_id and order by stream_version to read one submission's life.
  position bigint
  stream_id uuid
  stream_version integer
  type text
  schema_version integer
  recorded_at timestamp with time zone
  data jsonb
  metadata jsonb
  hash text
  transaction_id xid8
  grant select to runledger_auditor

view audit.execution
  One row an attempt: which worker ran it, under which limits and isolation, and how it ended. slot_seconds: for so long it had a slot, by its worker's clock; null when it did not end there, or its worker was of a release that does not say.
  submission_id uuid
  attempt integer
  worker_id uuid
  host text
  runtime text
  limits jsonb
  isolation jsonb
  started_at timestamp with time zone
  ended_by text
  ended_at timestamp with time zone
  verdict text
  compile jsonb
  run jsonb
  interrupted_because text
  slot_seconds double precision
  grant select to runledger_auditor

view audit.invariant
  One row for each promise that does not hold; empty when all is well.
  broken text
  subject uuid
  grant select to runledger_auditor

view audit.overview
  One row: the whole service as operators see it, as JSON (runledger.read_overview). Never costs more than what is unfinished.
  overview jsonb
  grant select to runledger_api
  grant select to runledger_auditor

view audit.partition
  How the log, the bodies and the outputs are divided, by the times at which their ids were made; the default partitions cover the rest and have no bounds.
  table_name text
  name text
  lower uuid
  upper uuid
  starts_at timestamp with time zone
  ends_at timestamp with time zone
  grant select to runledger_auditor

view audit.rerun
  One row a rerun, beside the submission that it repeats: what ran then and now, and how both ended.
  submission_id uuid
  rerun_id uuid
  at timestamp with time zone
  campaign text
  account text
  language text
  tag text
  runtime_before text
  runtime_after text
  verdict_before text
  verdict_after text
  changed boolean
  status text
  output text
  grant select to runledger_api
  grant select to runledger_auditor

view audit.running
  One row a submission that runs now: whose it is, which attempt, where and since when.
  submission_id uuid
  account text
  api_key text
  language text
  attempt integer
  worker_id uuid
  host text
  started_at timestamp with time zone
  grant select to runledger_api
  grant select to runledger_auditor

view audit.scaling
  One row a language of which something runs or waits for a slot: how many slots its programs want now. For what starts and ends workers by the queue. An aggregate of what is unfinished, and of nothing else.
  language text
  running integer
  waiting integer
  oldest_seconds double precision
  wanted_slots integer
  grant select to runledger_auditor

view audit.submission
  One row a submission, derived from the log: who sent it, what became of it. Times in seconds, memory in bytes.
  id uuid
  account text
  api_key text
  language text
  status text
  verdict text
  exit_code integer
  signal text
  cpu_time double precision
  wall_time double precision
  memory_peak bigint
  runtime text
  created_at timestamp with time zone
  started_at timestamp with time zone
  finished_at timestamp with time zone
  purged_at timestamp with time zone
  code_sha256 text
  code_bytes integer
  request text
  tag text
  limit_exceeded text
  priority text
  grant select to runledger_auditor

view audit.tier
  What keys may use: requests in any 60 seconds, executions at once; null is without a limit. keys: how many of it are in force; limits: the most that a submission may ask for; blob_bytes: the most that an account may have in blobs; weight: of an account's share of the slots; total_seconds: what a submission may run in all; output_bytes: the most that is kept of an account's outputs in a day; cores: that a box may use at once, null: its slot's share of the worker's; batch_items: the most submissions of a batch.
  name text
  requests_per_minute integer
  concurrent_executions integer
  keys bigint
  limits jsonb
  blob_bytes bigint
  weight integer
  total_seconds integer
  output_bytes bigint
  cores integer
  batch_items integer
  grant select to runledger_auditor

view audit.webhook
  One row a submission, or a batch, that asked for a webhook: where it stands, how the last attempt went, when the next is due. The whole story is the stream webhook_id.
  webhook_id uuid
  submission_id uuid
  account text
  receiver text
  state text
  attempts integer
  next_attempt_at timestamp with time zone
  last_attempt_at timestamp with time zone
  last_outcome text
  last_status integer
  ended_at timestamp with time zone
  abandoned_because text
  batch_id uuid
  grant select to runledger_api
  grant select to runledger_auditor

view audit.webhook_attempt
  One row an attempt to deliver a webhook: what the receiver answered (the first bytes of it are in snippet), or why it did not.
  webhook_id uuid
  submission_id uuid
  attempt integer
  recorded_at timestamp with time zone
  outcome text
  status integer
  duration_seconds double precision
  snippet text
  next_attempt_at timestamp with time zone
  worker_id text
  grant select to runledger_auditor

view audit.worker
  Worker processes, past and present: their release, their boxes, what they run, and what they do; suspended_at: since when one takes no submissions, because its sandbox failed.
  id uuid
  host text
  pid integer
  slots integer
  started_at timestamp with time zone
  renewed_at timestamp with time zone
  stopped_at timestamp with time zone
  alive boolean
  suspended_at timestamp with time zone
  version text
  isolation jsonb
  languages jsonb
  state text
  suspended_because text
  wanted text
  grant select to runledger_api
  grant select to runledger_auditor
  grant select to runledger_worker

view runledger.delivery_from_log
  Every webhook's state and attempts as its events say. The table runledger.delivery caches them, beside address and secret.
  submission_id uuid
  webhook_id uuid
  attempts integer
  state text

view runledger.finding
  What audit.drift, audit.broken_chain and audit.altered_body show, and what else audit.invariant does, one row each: check (drift, broken_chain, altered_body, promise), the stream, the broken event's position, its description, and the promise that does not hold.
  check text
  stream uuid
  position bigint
  what text
  promise text

view runledger.pending_from_log
  Where each submission without a terminal event stands, as the log says. The table runledger.pending caches it, beside what the log does not have.
  submission_id uuid
  account_id uuid
  api_key_id uuid
  language text
  is_low boolean
  requires jsonb
  version integer
  hash bytea
  is_running boolean
  is_cancelled boolean
  attempts integer
  run text
  worker_id uuid
  runtime text
  limits jsonb
  created_at timestamp with time zone
  started_at timestamp with time zone
  tag text
  output_encoding text
  rerun_of uuid
  batch_id uuid

view runledger.rerun_from_log
  Submissions that repeat another one, as the log says. The table runledger.rerun caches it.
  submission_id uuid
  rerun_of uuid
  campaign text

view runledger.result_from_log
  Every finished submission as its events say it is. The table runledger.result caches it.
  id uuid
  account_id uuid
  api_key_id uuid
  version integer
  status text
  verdict text
  language text
  runtime text
  exit_code integer
  signal text
  stdout_truncated boolean
  stderr_truncated boolean
  cpu_time double precision
  wall_time double precision
  memory_peak bigint
  created_at timestamp with time zone
  started_at timestamp with time zone
  finished_at timestamp with time zone
  purged_at timestamp with time zone
  tag text
  output_encoding text
  exceeded text
  compile jsonb
  rerun_of uuid
  slot_seconds double precision
  score double precision
  max_score double precision

view runledger.submission
  Every submission: the unfinished ones by runledger.pending, the finished ones by runledger.result.
  id uuid
  account_id uuid
  api_key_id uuid
  version integer
  status text
  verdict text
  language text
  runtime text
  exit_code integer
  signal text
  stdout_truncated boolean
  stderr_truncated boolean
  cpu_time double precision
  wall_time double precision
  memory_peak bigint
  created_at timestamp with time zone
  started_at timestamp with time zone
  finished_at timestamp with time zone
  purged_at timestamp with time zone
  tag text
  output_encoding text
  exceeded text
  compile jsonb
  rerun_of uuid
  slot_seconds double precision
  score double precision
  max_score double precision
  grant select to runledger_api
  grant select to runledger_worker

view runledger.submission_from_log
  Every submission as its events say it is, finished or not: what runledger.submission shows.
  id uuid
  account_id uuid
  api_key_id uuid
  version integer
  status text
  verdict text
  language text
  runtime text
  exit_code integer
  signal text
  stdout_truncated boolean
  stderr_truncated boolean
  cpu_time double precision
  wall_time double precision
  memory_peak bigint
  created_at timestamp with time zone
  started_at timestamp with time zone
  finished_at timestamp with time zone
  purged_at timestamp with time zone
  tag text
  output_encoding text
  exceeded text
  compile jsonb
  rerun_of uuid
  slot_seconds double precision
  score double precision
  max_score double precision

view runledger.unfinished
  Those of runledger.submission that have not ended.
  id uuid
  account_id uuid
  api_key_id uuid
  version integer
  status text
  verdict text
  language text
  runtime text
  exit_code integer
  signal text
  stdout_truncated boolean
  stderr_truncated boolean
  cpu_time double precision
  wall_time double precision
  memory_peak bigint
  created_at timestamp with time zone
  started_at timestamp with time zone
  finished_at timestamp with time zone
  purged_at timestamp with time zone
  tag text
  output_encoding text
  exceeded text
  compile jsonb
  rerun_of uuid
  slot_seconds double precision
  score double precision
  max_score double precision
  grant select to runledger_api

function job.describe_execution(submission_id uuid, language text, is_low boolean, queue_position bigint)
  The job of a pending submission. queue_position: as runledger.pending has it; null for a low one, which comes after all that are not, in the order in which it came.
  returns graphile_worker.job_spec stable

function job.enqueue_deliver(webhook_id uuid, run_at timestamp with time zone)
  Enqueues one attempt to deliver a webhook in the caller's transaction.
  returns void security definer set search_path=pg_catalog, pg_temp

function job.enqueue_execution(submission_id uuid, delay_seconds integer DEFAULT 0, is_given_back boolean DEFAULT false)
  Adds the job of one pending submission by what the log says of it, in place of the one that it may have. It keeps its position, or gets one. delay_seconds: not earlier than that. is_given_back: it has waited once, and goes before others. Nothing happens when it has ended.
  returns void security definer set search_path=pg_catalog, pg_temp

function job.find_position(account_id uuid, weight integer)
  Where the account's next submissions stand in the queue: the n-th of a set (1, 2, …) at start + n * step. start: its last one's position, or the virtual time if that is later. step: the price of one, the mean slot time of its last eight results (0.1 s when there is none; ten minutes of each at most), divided by its weight.
  returns TABLE(start bigint, step bigint) stable

function job.position_time(queue_position bigint)
  The run_at of a job at this position: graphile-worker takes jobs by priority and run_at. Now for null, as a low one has none.
  returns timestamp with time zone stable

function runledger.add_blob_chunk(api_key_id uuid, sha256 bytea, number integer, content bytea)
  Adds a chunk to a blob that this transaction has made. 55000: it has made none of this name, so that nobody changes what is there.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.admit_request(digest bytea, role text DEFAULT 'submit'::text)
  The key with this digest, if it is valid and of this role, and whether its rate window admits one more request; an operator's has none. No row: no such key. reset_seconds: after this many seconds the window admits at least one more. limits: the most that a submission may ask for; batch_items: how many a batch may hold.
  returns TABLE(api_key_id uuid, account_id uuid, key_digest bytea, admitted boolean, quota integer, remaining integer, reset_seconds integer, limits jsonb, batch_items integer, read_only boolean) security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.admit_waiting(api_key_id uuid)
  Enqueues as many of a key's waiting submissions, low ones last and the oldest first, as its tier has room for; returns how many. Each end calls it, so that exactly its tier's number run.
  returns integer security definer set search_path=pg_catalog, pg_temp

function runledger.append_event(stream_id uuid, stream_version integer, type text, schema_version integer, data jsonb, metadata jsonb, previous_hash bytea DEFAULT NULL::bytea)
  Appends one event at the given version, or (null) after the last one; returns its hash. previous_hash: that of the event before it, by a caller that knows it; without it, it is looked up. 23505: somebody else was there first. RL002: the version would leave a gap.
  returns bytea

function runledger.append_events(events runledger.new_event[])
  Appends events, each at its version; returns what came of each. 23505: somebody else was there first; nothing was written of any.
  returns TABLE(stream_id uuid, stream_version integer, recorded_at timestamp with time zone, hash bytea)

function runledger.append_interrupted(pending runledger.pending, schema_version integer, data jsonb, metadata jsonb)
  Appends execution.interrupted to a submission that runs, and returns its row as it is then. It has no job yet.
  returns runledger.pending

function runledger.await_submissions(submission_ids uuid[], waiter text)
  Asks for a notification on the channel waiter when each of the submissions has ended. Read their state after this call, not before.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.cancel(submissions uuid[], account_id uuid, metadata jsonb)
  Cancels submissions of the account; one row for each that it has. cancelled: it waited and has ended; requested: it runs, and its worker is to be notified after the commit (runledger_cancel); ended: it had ended before. waiters: as runledger.conclude has them.
  returns TABLE(submission_id uuid, state text, waiters text[]) security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_api

function runledger.change_key(api_key_id uuid, tier text, ends_at timestamp with time zone, type text, schema_version integer, data jsonb, metadata jsonb)
  Brings a key to another tier (api_key.changed), revokes it (api_key.revoked) or sets the end of its overlap (api_key.rotated), never later than it would have ended anyway, and appends that event; false when it is unknown, revoked or expired. tier, ends_at: null in the other cases. 23503: there is no such tier.
  returns boolean security definer set search_path=pg_catalog, pg_temp

function runledger.check_ledger(events integer)
  The reconciler's step, unless there was one in the last 8 seconds: verifies the streams of the newest so many events, the next so many of a walk through the whole log that begins again at its end, and those in which something was found before; puts what it found into runledger.ledger_check. Returns up to ten streams in which nothing had been found before.
  returns uuid[] security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api
  grant execute to runledger_worker

function runledger.closes_submission(type text)
  True for the types of events that end a submission.
  returns boolean immutable
  grant execute to runledger_auditor

function runledger.command_worker(worker_id uuid, wanted text, schema_version integer, metadata jsonb)
  Writes into a worker's row what is wanted of it, and appends the event: worker.paused, worker.resumed, worker.drained or worker.restarted. Returns how it is then; changed: false, and no event, when that is so already, and when it drains or restarts. No row: no such worker lives.
  returns TABLE(id uuid, host text, state text, wanted_now text, changed boolean) security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api
  grant execute to runledger_worker

function runledger.conclude(items jsonb)
  Ends the attempts of items, an array of objects: submission_id, started_version (of its execution.started), run (as that names it; null: any), schema_version and data of the event, metadata, and in base64 or null stdout, stderr, compile_output, report. Appends execution.completed to each; or, where its end was asked for, submission.cancelled with the same data but the verdict. One row an item, in their order. refusal: null, or why nothing was written of it. stored: an earlier call with the same end was. superseded: the attempt was given up, its result is to be dropped. start_lost: a crash of the server has forgotten the start, the submission is to be started again. no_verdict: data has none, and nobody asked for the end. waiters: channels to be sent notification after the commit; null: nobody waits.
  returns TABLE(refusal text, waiters text[], notification text) security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_worker

function runledger.count_blob(bytes integer)
  Bytes that a blob of this size counts: at least 4 KiB.
  returns integer immutable
  grant execute to runledger_auditor

function runledger.count_output(kept jsonb)
  Adds bytes to what is kept today (UTC) of accounts' outputs: an object of numbers by the account's id, 0 to ask alone. Returns of each what it has kept today, and the most that its tier allows: of several keys in force the widest counts; null is unlimited.
  returns TABLE(account_id uuid, bytes bigint, most bigint) security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.define_tier(name text, schema_version integer, data jsonb, metadata jsonb)
  Makes a tier, or changes it for all its keys, and appends tier.defined. data: columns of runledger.tier, of which those that are left out stay, as limits do that are not named; null is without a limit.
  returns void security definer set search_path=pg_catalog, pg_temp

function runledger.describe_end(result runledger.result, delivery runledger.delivery, attempt integer, limits jsonb, stdout bytea, stderr bytea, compile_output bytea, report bytea)
  What the waiters of a submission are notified of: the row of runledger.read_result as JSON, or its id alone if that is too long or its caller has cancelled it. attempt, limits: of the last attempt; delivery: its webhook, which is due.
  returns text stable

function runledger.describe_lost(p runledger.pending)
  An attempt whose worker is lost, as runledger.interrupt takes it.
  returns jsonb immutable

function runledger.displace_low(api_key_id uuid)
  Takes its place from the newest low submission of a key that was admitted and has not started: it waits as those do that were not (admit_waiting). False: there is none. Called with the key's lock held.
  returns boolean

function runledger.drop_partitions(older_than interval)
  Drops the empty partitions of runledger.body and runledger.output that end longer ago than that; returns their names.
  returns SETOF text security definer set search_path=pg_catalog, pg_temp, lock_timeout=500ms
  grant execute to runledger_worker

function runledger.end_submissions(items jsonb, are_attempts boolean DEFAULT false)
  Ends submissions: appends the event of each item, and does what follows from an end: result and outputs, the jobs of webhooks, the key's next submission. items: as runledger.conclude has them. Unless they are attempts, an item says the type of its event, and started_version is the submission's version. Returns those that ended. Nothing is written of one whose row is not as the log says, which is mended.
  returns runledger.ended_submission[]

function runledger.estimate_drain()
  Submissions that ended lately, per second: of the last ten within 60 seconds; 0 with fewer than two, and while every live worker is paused or drains. Beyond the newest 10,000 events none is counted.
  returns double precision stable security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.find_bulk(action text, filter jsonb, after uuid, most integer)
  Submissions after this id that fit: filter has until, and may have since, account (its name), language, status, verdict, tag, and webhook (a state) for replay, campaign for rerun. count; skipped: what fits and cannot be rerun, because the campaign has it (done), its body is gone (purged) or nobody runs it (not_offered); items (id, account_id, webhook_id, state), at most so many, none where most is null; next: the cursor, null at the end. A webhook that was sent again since until does not fit.
  returns jsonb stable security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_custom_plan, jit=off, enable_seqscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_material=off
  grant execute to runledger_api

function runledger.find_operator_key(account_id uuid, api_key_id uuid, schema_version integer, metadata jsonb)
  The key of the account under which operators submit; made with this id when there is none, and revoked at once. Null: there is no such account. 23503: there is no tier `unlimited`.
  returns uuid security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.find_refusal(item jsonb)
  Why an item of runledger.conclude has ended nothing.
  returns text stable

function runledger.flush_log()
  When it has been committed, everything that was committed before it is on disk.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.forget_output(submission_id uuid, run text)
  Removes the events of one attempt at its end: the record has them, or another attempt begins.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.has_room(submissions integer, capacity integer, account_id uuid DEFAULT NULL::uuid, of_account integer DEFAULT 0)
  True when so many submissions more are no more than the capacity, but for those that are being received at this moment. A full queue takes a few more of each account, so that no account keeps another out: if the account has a fiftieth of the capacity at most with of_account of them, they may be a quarter more, all such accounts together.
  returns boolean

function runledger.hash_event(previous_hash bytea, stream_id uuid, stream_version integer, type text, schema_version integer, data jsonb, metadata jsonb, recorded_at timestamp with time zone)
  SHA-256 over the previous event's hash and one event's content.
  returns bytea immutable
  grant execute to runledger_api
  grant execute to runledger_auditor

function runledger.interrupt(items jsonb)
  Notes the loss of the attempts of items, an array of objects: submission_id, started_version, run (null: any), schema_version and data of execution.interrupted, metadata, is_last (no further attempt would go better; null: false). One row an item, in their order. outcome: requeued, its next attempt is enqueued; ended, by execution.abandoned as it is the last or three attempts were lost, or by submission.cancelled as that was asked for; or nothing was written: superseded, somebody else ended this attempt; start_lost, the attempt of this run is not in the log. waiters: as runledger.conclude has them.
  returns TABLE(outcome text, waiters text[]) security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_worker

function runledger.is_undelivered(submission_id uuid)
  True when a webhook of the submission, or of its batch, is still to be delivered.
  returns boolean stable

function runledger.is_worker_alive(worker_id uuid)
  False for a worker that stopped, whose session lock (71830, lock_key) is free, or that did not renew within its lease.
  returns boolean stable security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api
  grant execute to runledger_auditor
  grant execute to runledger_worker

function runledger.issue_key(api_key_id uuid, account_id uuid, account_name text, tier text, label text, digest bytea, expires_at timestamp with time zone, schema_version integer, data jsonb, metadata jsonb)
  Stores a key's digest and appends api_key.issued; makes the account, with this id, if there is none of its name yet. data.role: submit, when left out; data.name: none, when left out. RL024: it is of another role than the key that it replaces.
  returns void security definer set search_path=pg_catalog, pg_temp

function runledger.lend_slot(submission_id uuid, run text, seconds double precision, offers text[], does text[])
  A submission has had its slot for so many seconds and is between two tests. True: another account is next by the fair order; the submission is parked, at a position later by these seconds, and its job (continue:<worker>) says when it goes on. False: it goes on at once; where another account waits with a later position, the seconds are counted all the same. Repeated while it is parked it adds the job again. offers, does: as runledger.start has them of the worker.
  returns boolean security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_sort=off
  grant execute to runledger_worker

function runledger.list_blobs(list bytea)
  The SHA-256 of each blob in a list as runledger.body.blobs has it.
  returns SETOF bytea immutable
  grant execute to runledger_auditor

function runledger.list_recent_language(period interval)
  The languages that a worker has run within the period, up to now, each with its version and what such a worker cannot do of what submissions demand. offer: languages of one number are offered by one worker; workers that offer the same have the same number. is_offered_now: one of them has not stopped.
  returns TABLE(name text, version text, lacks jsonb, offer bigint, is_offered_now boolean) stable security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.list_subjects(submissions uuid[])
  What the webhooks of these submissions are of: each itself, and its batch if that has one.
  returns TABLE(submission_id uuid, subject uuid) stable

function runledger.lock_submissions(submissions uuid[])
  Locks submissions and their batches before the first of them is interrupted or cancelled, and with it a key is locked: one after another, they would be locked in the reverse of the order in which an end locks them, and the two could wait for each other.
  returns void

function runledger.make_partitions()
  Makes the partitions that runledger.partitioning asks for; returns their names. 55P03: a reader held a lock for a tenth of a second, try again later.
  returns SETOF text security definer set search_path=pg_catalog, pg_temp, TimeZone=UTC, lock_timeout=100ms
  grant execute to runledger_worker

function runledger.name_file(api_key_id uuid, id text, sha256 bytea)
  Calls a blob of the key's account by this id, which may have been another's. Of more than 64 ids the oldest go.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.oldest_release()
  The oldest release that this schema serves: web processes, workers and migrations of an older one refuse to start.
  returns text immutable
  grant execute to runledger_api
  grant execute to runledger_worker

function runledger.postpone_delivery(webhook_id uuid, version integer, seconds double precision)
  Makes a pending delivery due in so many seconds, without an attempt; nothing happens when its stream has moved on from the given version.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.publish_output(runs jsonb)
  runs: for each its submission and further events {seq, id, event, data}, perhaps none. Returns for each the seq that comes next; events that begin with another one are left out, as after a crash. `next_seq` is null and nothing is kept when nobody watches.
  returns TABLE(run text, next_seq integer, is_base64 boolean) security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_worker

function runledger.purge_blobs(older_than interval, batch integer)
  Removes at most `batch` blobs that were last used longer ago than that (and a day at most) and that no unfinished submission names; returns how many. 0: there are none left, or somebody else is at it.
  returns integer security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.purge_bodies(older_than interval, batch integer)
  Removes the bodies and outputs of at most `batch` submissions that ended longer ago than that, and appends submission.purged to each; returns how many. 0: there are none left, or somebody else is at it.
  returns integer security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.purge_submission(submission_id uuid, account_id uuid, metadata jsonb)
  Removes the bodies and outputs of one submission of an account at its wish, and appends submission.purged: purged. Nothing is done when it has not ended (unfinished) or its webhook, or its batch's, is to be delivered (undelivered); null: the account has none such, or it was purged before.
  returns text security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.read_attempt(submission_id uuid)
  Of the last attempt of a submission its number and the limits in force, and when its end was asked for; one row, of nulls before the first attempt.
  returns TABLE(limits jsonb, attempt integer, cancel_requested_at timestamp with time zone) stable
  grant execute to runledger_api

function runledger.read_batch(batch_id uuid)
  What became of the members of a batch, those that have ended, in the order of its items.
  returns TABLE(id uuid, status text, verdict text, finished_at timestamp with time zone) stable security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.read_class_load()
  One row a tier, language and priority of which submissions wait, of the 200 with most of them: how many do not run yet, and the age of the oldest.
  returns TABLE(tier text, language text, priority text, waiting bigint, oldest_seconds double precision) stable security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.read_delivery(webhook_id uuid)
  A delivery whose next attempt is due: number of the attempt in all and since the last replay, the version of its stream, which the attempt's event must follow, its format (null: the usual one), and whether submission_id is a batch. No row: it is over, or not due.
  returns TABLE(submission_id uuid, account_id uuid, url text, secret text, attempt integer, round_attempt integer, version integer, output_bytes bigint, format text, is_batch boolean) stable security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.read_files(account_id uuid, ids text[], most integer)
  Those of an account's files that have one of these ids, and notes that they are used; content is null when they have more than `most` bytes in all.
  returns TABLE(id text, bytes integer, content bytea) security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.read_language_load()
  One row a language that waits or is taken: submissions that do not run yet, and live workers that would take them.
  returns TABLE(language text, waiting bigint, workers bigint) stable security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.read_live_output(asked jsonb)
  For each place of `asked`: how that submission stands (status is null when there is none), its last attempt, and, while it runs, the next events behind `seq` of `run`, or of its last attempt from the beginning: a row each, or one without. Whose submissions they are the caller has seen to.
  returns TABLE(place integer, status text, is_final boolean, run text, event_id text, event text, data text) stable security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_api

function runledger.read_load()
  Unfinished submissions (waiting for a place of their key's, queued, running), age of the oldest that does not run, live workers and the slots of those that take submissions, webhooks not delivered yet, live workers that take none because their sandbox failed, those that take none because an operator wants it so, and for how long the oldest job that a worker could take has waited for one.
  returns TABLE(waiting bigint, queued bigint, running bigint, oldest_waiting_seconds double precision, workers bigint, slots bigint, deliveries_pending bigint, suspended_workers bigint, paused_workers bigint, oldest_queued_seconds double precision) stable security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.read_outcome(type text, data jsonb)
  What execution.completed, execution.abandoned or submission.cancelled says of a result; one row.
  returns TABLE(status text, verdict text, exit_code integer, signal text, stdout_truncated boolean, stderr_truncated boolean, cpu_time double precision, wall_time double precision, memory_peak bigint) immutable
  grant execute to runledger_auditor

function runledger.read_overview()
  What an operator sees: the oldest submission that waits, the load (as read_load), languages, the twenty accounts with most unfinished and of each its ten busiest keys (null is without a limit), workers that have not ended, how recent submissions ended, and what the reconciler last found in the ledger. Costs what is unfinished, not what has been.
  returns jsonb stable security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_custom_plan, jit=off, enable_seqscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_material=off
  grant execute to runledger_api
  grant execute to runledger_auditor

function runledger.read_progress(since xid8, since_position bigint)
  Events of ended attempts, cancelled submissions and webhooks in transactions from `since` up to `until`, exclusive; at least one row, its type null when there are none. Next time pass `until` as since, and as since_position the newest_position of a look whose `begun` is at most that `until`.
  returns TABLE(until xid8, begun xid8, newest_position bigint, type text, language text, verdict text, reason text, outcome text, attempt_seconds double precision, queue_seconds double precision, compile_seconds double precision, run_seconds double precision, total_seconds double precision, blobs_read integer, blobs_fetched integer) stable security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.read_recent_ends(period interval, events integer)
  Submissions that came and that ended within the period, as far as the newest so many events reach: seconds is how far they do. waited, ran and took (receipt to end) are of those that completed.
  returns jsonb stable security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_custom_plan, jit=off, enable_seqscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_material=off

function runledger.read_requirements(received jsonb)
  What submission.received says of limits, demands, checker_language and detail; null: nothing.
  returns jsonb immutable
  grant execute to runledger_auditor

function runledger.read_result(submission_id uuid, account_id uuid)
  One submission of an account with its outputs (null once purged), its last attempt and its webhook; no row when the account has none such.
  returns SETOF runledger.record stable security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_api

function runledger.read_series(step interval, steps integer, most integer)
  So many steps up to now, the last one under way: each has at (its start), seconds, received, ended and failed (of those received since the first step), waiting (for a place or a worker, at its end), waited_p95 (of those that it received; null: none started or waits). Reads about `most` submissions, at most five times as many: share is how much of the time it looked at.
  returns jsonb stable security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_custom_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_sort=off
  grant execute to runledger_api

function runledger.rebuild_batch(after uuid, batch integer)
  Makes the projections of the next submissions after the given id anew from the log; returns the last id (null: these were the last), how many the log has, and how many rows were not as they should be.
  returns TABLE(last uuid, submissions integer, repaired integer) security definer set search_path=pg_catalog, pg_temp, TimeZone=UTC

function runledger.receive(requests jsonb, submissions jsonb, durable boolean DEFAULT true)
  Receives the submissions of requests. requests: an array of objects with submission_id (of its first submission), submissions (how many), api_key_id, capacity (unfinished ones over all keys, with these; null: there is room), idempotency_key and request_digest (what makes two requests of one key the same), batch_answer (what a repeated batch is answered with), waiter (a channel to be notified of the end), by_operator (the key need not be in force), batch (an object with id, webhook_id, webhook_url, webhook_secret, schema_version, data and metadata of batch.received; none: the batch has no webhook). submissions: an array of objects with request (its place, from 1), submission_id, webhook_id, webhook_url and webhook_secret (or none), schema_version, data and metadata of the event, and in base64 code, stdin, expected_stdout, detail, blobs. One row a request, n being its place. outcome: received; replayed: the idempotency key stands for earlier_id or batch_answer, matches says whether for the same request; key_refused, queue_full, blob_missing: nothing of it was written. 57014: it took more than 1.5 s, nothing was written of any.
  returns TABLE(n integer, outcome text, earlier_id uuid, matches boolean, batch_answer text) security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_api

function runledger.reconcile_queue()
  Requeues what a lost worker had started, enqueues again what is unfinished and has no job, admits what waits and has room, forgets old idempotency keys, spent jobs and those of lost workers; returns how many submissions and webhooks it repaired.
  returns integer security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api
  grant execute to runledger_worker

function runledger.record_attempt(webhook_id uuid, version integer, type text, schema_version integer, data jsonb, metadata jsonb, retry_seconds double precision, abandoned_because text)
  Appends webhook.delivered or webhook.attempt_failed (and webhook.abandoned after the last) after the given version, enqueues the next attempt in retry_seconds, removes the secret at the end. 23505: something else was recorded in the meantime, this attempt counts for nothing.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.refresh_submissions(submission_ids uuid[])
  Makes the rows of runledger.pending and runledger.result as the log has these submissions; returns how many were not so.
  returns integer

function runledger.refuse_change()
  Trigger: refuses UPDATE, DELETE and TRUNCATE with SQLSTATE RL001.
  returns trigger set search_path=pg_catalog, pg_temp

function runledger.register_worker(worker_id uuid, host text, pid integer, slots integer, languages jsonb, lease_seconds double precision, description jsonb DEFAULT '{}'::jsonb)
  Records a worker, its return with a new session, or that it runs other languages, and takes a session lock. Does nothing for a worker that was declared lost. description: version (of Runledger) and isolation, as in execution.started; succeeds: the id under which this process was declared lost, whose commands hold.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.remove_bodies(submissions uuid[], reason text, metadata jsonb)
  Removes the bodies, outputs and webhook addresses of these submissions and their batches, whose results are locked, and appends submission.purged to those that have none yet; but not of those that owe a webhook, of their own or their batch's. Returns how many.
  returns integer

function runledger.renew_worker(worker_id uuid, queue_pool_ids text[], suspended_because text)
  Renews a worker's lease and says why it takes no jobs, null when it takes them. Returns what is wanted of it; null when it was declared lost in the meantime.
  returns text security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.replay_delivery(webhook_id uuid, secret text, schema_version integer, metadata jsonb)
  Appends webhook.replayed and makes a delivered or abandoned webhook due now, under the same id, with its schedule from the start. Returns the state that was found; in any other than delivered or abandoned nothing was done; purged: retention removed its address; null: no such webhook.
  returns text security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.requeue_jobs(submission_ids uuid[], lost_by text[] DEFAULT '{}'::text[])
  Requeues, each at its position, jobs that a worker was handed and does not start: these, as it is to take nothing, and those that its pools lost_by were handed half a second ago, as the answer was lost with their connection. Returns how many. Where it has started one meanwhile, the job does nothing.
  returns integer security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_worker

function runledger.rerun_submission(original uuid, request jsonb, at_once integer DEFAULT NULL::integer)
  Receives a submission of the account of request.api_key_id again, with its code, input and all that it asked, but no webhook. request: as runledger.receive takes one, with the event's metadata, and data that is added to what the event says. With data.campaign, which repeats what is no rerun: unless it has (done), or has at_once under way (busy). No row: the account has none such. outcome: as receive; not_final, purged, done or busy: nothing was written. id: the new one, or of what is replayed.
  returns TABLE(id uuid, outcome text, matches boolean) security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_api

function runledger.restore_next_pending(after uuid, batch integer, OUT last uuid, OUT restored integer)
  The reconciler's step through all submissions: puts back what runledger.pending lacks of the next so many after the given id, and returns how many. last: the last of them, null at the end of the log.
  returns record security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api
  grant execute to runledger_worker

function runledger.start(worker_id uuid, submission_ids uuid[], runs text[], languages text[], data jsonb, programs jsonb, metadata jsonb, does text[], under_way text[] DEFAULT '{}'::text[])
  Appends execution.started of each submission, and returns what is to be run (code is null when the body is gone) and whose it is; repeated with the same run it returns the same. languages: of the job that was handed out. data: what the event says of the worker; programs: what it says of each language that the worker runs. does: what the worker can do of what submissions demand. under_way: runs that this worker has under way. No row: the submission has ended or is not admitted, runs here or on another live worker, or is enqueued again because it is in another language or asks for what the worker does not do. Nothing is written of one whose row is not as the log says, which is mended. RL005: this worker was given up and must register under a new id. RL027: it is to take nothing.
  returns TABLE(submission_id uuid, run text, version integer, account_id uuid, code bytea, stdin bytea, expected_stdout bytea, detail bytea, total_seconds integer, cores double precision, has_webhook boolean) security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_worker

function runledger.start_data(data jsonb, received jsonb, cores integer, attempt integer)
  data: what the worker says of itself and of the program, limits.cores being a slot's share; received: as runledger.suits_worker has it; cores: of a box, as the tier has it, or null; attempt: 1, 2, 3 …
  returns jsonb stable

function runledger.start_otherwise(submission_id uuid, run text, language text, worker_id uuid, metadata jsonb, programs jsonb, does text[], under_way text[])
  A job whose submission does not just wait to be started (runledger.start): an attempt that nobody has under way is interrupted, and the job is enqueued again if it is for another worker. True: it can be started now.
  returns boolean

function runledger.stop_worker(worker_id uuid)
  Records that a worker stopped by itself.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.store_blob(api_key_id uuid, sha256 bytea, bytes integer, content bytea)
  Makes a blob of the key's account with its first chunk; true: it is new, and the same transaction is to add the others. False: it is there already and was used just now. RL018: with it the account would have more than the key's tier allows.
  returns boolean security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.store_received(submissions jsonb, received runledger.received_request[], has_limit boolean)
  Appends submission.received of each submission of the requests that are received (runledger.receive), with all that belongs to it. Called with the locks of keys that have a limit.
  returns void

function runledger.suits_worker(received jsonb, programs jsonb, does text[])
  Whether a worker can do what a submission asks, by the data of its submission.received, or null where that asks nothing (runledger.read_requirements). programs: what it runs, by language, or a list of the languages. does: what it can do of what submissions demand.
  returns boolean stable

function runledger.summarise(figures double precision[])
  The median, the 95th and the 99th percentile of these, each one of them; null without any.
  returns jsonb immutable set search_path=pg_catalog, pg_temp

function runledger.sweep_workers()
  Marks lost workers as stopped, interrupts what they were executing (which enqueues it again, or ends it when it was lost too often or is to be cancelled), frees their jobs, and jobs that no worker answers for. Returns the submissions touched, and after those of each lost worker a row without one.
  returns TABLE(worker_id uuid, submission_id uuid, requeued boolean, host text, pid integer, silent_seconds double precision) security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api
  grant execute to runledger_worker

function runledger.take_slot(submission_id uuid, run text)
  What was parked goes on, or has ended: it waits in the queue no more.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.use_blobs(accounts uuid[], digests bytea[])
  Blobs of these accounts (two arrays of one length) are named by a submission that this transaction receives.
  returns void

function runledger.uuid_floor(at timestamp with time zone)
  The smallest id of a time; ids that were made earlier are below it.
  returns uuid immutable

function runledger.uuid_time(id uuid)
  The time with which an id begins.
  returns timestamp with time zone immutable set search_path=pg_catalog, pg_temp
  grant execute to runledger_auditor

function runledger.verify(after uuid, events integer, also uuid[] DEFAULT '{}'::uuid[], bodies boolean DEFAULT false)
  Checks the streams after an id, of about so many events, and some others: counts of rows in audit.drift, audit.broken_chain, audit.invariant and, with bodies, audit.altered_body; the first hundred streams in which something was found; the first finding of each check; next (null at the end); share, how much of the log's time is behind it. busy: somebody else's step is under way; try again.
  returns jsonb security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_custom_plan, jit=off, enable_seqscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_material=off
  grant execute to runledger_api
  grant execute to runledger_auditor

function runledger.watch_submissions(submissions uuid[], channel text)
  For the next minute, workers publish the output of these submissions as it is written, and `channel` is notified of it and of their ends (runledger.await_submissions) with the id.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

schema audit
  Views for auditors: read these, change nothing.
  grant usage to runledger_api
  grant usage to runledger_auditor
  grant usage to runledger_worker

schema graphile_worker
  grant usage to runledger_queue

schema job
  Wrappers that put jobs into the queue, in the caller's transaction.

schema runledger
  Tables and functions of the service. The log is runledger.event. Results, pending submissions, deliveries and reruns can be made from it; accounts, digests of keys, idempotency keys, blobs, and the URL and secret of a webhook cannot.
  grant usage to runledger_api
  grant usage to runledger_auditor
  grant usage to runledger_worker

policies on graphile_worker._private_job_queues
  runledger_queue to {runledger_queue} using true with check true

policies on graphile_worker._private_jobs
  runledger_queue to {runledger_queue} using true with check true

policies on graphile_worker._private_known_crontabs
  runledger_queue to {runledger_queue} using true with check true

policies on graphile_worker._private_tasks
  runledger_queue to {runledger_queue} using true with check true
