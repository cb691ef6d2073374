-- The schema as it stands after all migrations. Made by test/helper/schema.ts; do not edit.

partitioned table runledger.body
  The bytes that a submission was received with. They are kept apart from the log, so that retention can remove them while the log, which has their hashes, stays whole. No row: purged. Partitioned by id, and so by time.
  submission_id uuid not null
  code bytea
  stdin bytea
  expected_stdout bytea
  detail bytea: The request's other options, as JSON: arguments, files, limits. Null: none.
  blobs bytea: The blobs that the submission names, each once: concatenated SHA-256 digests of 32 bytes each (runledger.list_blobs). Null: none.
  partition by RANGE (submission_id)
  constraint body_pkey PRIMARY KEY (submission_id)
  grant select to runledger_api

partitioned table runledger.event
  Everything that happened, append-only. The primary key prevents a second event at the same version of a stream.
  position bigint not null default nextval('runledger.event_position'::regclass): Order of insertion, which is not the order of commits. A cursor over the log must also use transaction_id.
  transaction_id xid8 not null default pg_current_xact_id(): Lets a reader skip transactions that are still open: transaction_id < pg_snapshot_xmin(pg_current_snapshot()).
  stream_id uuid not null: The subject of the event: a submission, a batch, a webhook, an API key, a tier or a worker.
  stream_version integer not null: 1, 2, 3 … within the stream, without gaps.
  type text not null
  schema_version integer not null
  data jsonb not null
  metadata jsonb not null: Who and what caused the event: the request's id, and as actor the key, worker, operator, signal or retention that acted, or the lost worker whose run was requeued (sweep_of).
  recorded_at timestamp with time zone not null
  hash bytea not null: SHA-256 over the previous event's hash and this event's content; see runledger.hash_event.
  partition by RANGE (stream_id)
  constraint event_pkey PRIMARY KEY (stream_id, stream_version)
  INDEX event_by_position ON ONLY runledger.event USING btree ("position")
  UNIQUE INDEX event_one_terminal ON ONLY runledger.event USING btree (stream_id) WHERE (type = ANY (ARRAY['execution.completed'::text, 'execution.abandoned'::text, 'submission.cancelled'::text])): A submission ends once.
  INDEX event_received ON ONLY runledger.event USING btree (stream_id) WHERE (type = 'submission.received'::text)
  TRIGGER event_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON runledger.event FOR EACH STATEMENT EXECUTE FUNCTION runledger.refuse_change()
  grant select to runledger_api

partitioned table runledger.output
  The output of a submission's last attempt, written once, at its end. Kept apart from the log, partitioned and purged like runledger.body. No row: no attempt has a result, or the output is purged.
  submission_id uuid not null
  stdout bytea
  stderr bytea
  compile_output bytea
  report bytea: The rest of the result, beside the outputs, as JSON. Null: nothing.
  partition by RANGE (submission_id)
  constraint output_pkey PRIMARY KEY (submission_id)
  grant select to runledger_api
  grant select to runledger_worker

table runledger.account
  A customer. Submissions, results and idempotency keys belong to accounts.
  id uuid not null
  name text not null
  created_at timestamp with time zone not null default now()
  blob_bytes bigint not null default 0: The sum of runledger.count_blob over the account's blobs. It is stored here so that one row enforces the quota.
  constraint account_blob_bytes CHECK ((blob_bytes >= 0))
  constraint account_name_key UNIQUE (name)
  constraint account_name_length CHECK (((length(name) >= 1) AND (length(name) <= 200)))
  constraint account_pkey PRIMARY KEY (id)
  grant select (blob_bytes) to runledger_api

table runledger.api_key
  API keys by digest. The key itself is shown once, when it is issued, and is not stored.
  id uuid not null
  account_id uuid not null
  tier text not null
  label text not null: The key's first characters, enough for a person to distinguish keys.
  digest bytea not null: SHA-256 of the whole key.
  created_at timestamp with time zone not null default now()
  expires_at timestamp with time zone
  revoked_at timestamp with time zone
  role text not null default 'submit'::text: submit: the key submits, and reads the account's submissions. operator: the key inspects and controls the service, and submits nothing.
  read_only boolean not null default false: True for an operator's key that can only read.
  name text: The name given when the key was issued; null: none. Several keys may have one name, for example a key and its successor.
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
  Files that an account has uploaded to name in submissions. blob_chunk has their bytes. runledger.body says which submission names which blob; the log has the hash of that list (blob_list of submission.received).
  account_id uuid not null
  sha256 bytea not null
  bytes integer not null
  created_at timestamp with time zone not null default now()
  used_at timestamp with time zone not null default now(): When the blob was last uploaded or named, or up to half a day before that, because not every use writes.
  constraint blob_account_id_fkey FOREIGN KEY (account_id) REFERENCES runledger.account(id)
  constraint blob_bytes CHECK (((bytes >= 0) AND (bytes <= 16777216)))
  constraint blob_pkey PRIMARY KEY (account_id, sha256)
  constraint blob_sha256_length CHECK ((length(sha256) = 32))
  INDEX blob_by_use ON runledger.blob USING btree (used_at)
  grant select (account_id, sha256, bytes) to runledger_api

table runledger.blob_chunk
  The bytes of blobs: 256 KiB in each chunk but the last, numbered from 0. The transaction that creates the blob writes them; they never change afterwards.
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
  Webhooks requested by a submission or a batch: the address, and the secret until delivery has ended. Attempts are events of the stream webhook_id.
  submission_id uuid not null: The submission or the batch that the webhook reports; a batch is named by the stream of its batch.received.
  webhook_id uuid not null
  url text: The whole address, which may contain the caller's secrets, so it is purged like a body. Null once it is purged; the log has the host.
  secret text
  attempts integer not null default 0
  state text not null default 'waiting'::text: waiting: the submission, or a member of the batch, is unfinished. pending: an attempt is due or scheduled. delivered, abandoned: delivery has ended and the secret is removed.
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
  Ids by which an account names blobs that came through a door (docs/doors.md) whose clients choose ids. A row is deleted with its blob; a blob has at most 64 ids.
  account_id uuid not null
  id text not null
  sha256 bytea not null
  named_at timestamp with time zone not null default now()
  constraint file_id_blob FOREIGN KEY (account_id, sha256) REFERENCES runledger.blob(account_id, sha256) ON DELETE CASCADE
  constraint file_id_length CHECK (((length(id) >= 1) AND (length(id) <= 200)))
  constraint file_id_pkey PRIMARY KEY (account_id, id)
  INDEX file_id_by_blob ON runledger.file_id USING btree (account_id, sha256)

table runledger.idempotency
  Idempotency-Key headers of the last 24 hours. The primary key makes a repeated request harmless.
  account_id uuid not null
  key uuid not null
  submission_id uuid not null
  request_digest bytea not null: SHA-256 of the parsed request, which distinguishes a replay from a different request under the same key.
  batch_answer text: The answer to a batch, as JSON; null for a single submission. For a batch, submission_id is its first valid item.
  created_at timestamp with time zone not null default now()
  constraint idempotency_pkey PRIMARY KEY (account_id, key)
  INDEX idempotency_by_age ON runledger.idempotency USING btree (created_at)

table runledger.kept_output
  Bytes kept of the outputs of an account's runs, by day (UTC). Workers report them every few seconds (runledger.count_output), so that the ends of an account's submissions do not wait for each other. Bytes that a killed worker has not reported are not counted. Days before yesterday are removed.
  day date not null
  account_id uuid not null
  bytes bigint not null
  constraint kept_output_account_id_fkey FOREIGN KEY (account_id) REFERENCES runledger.account(id)
  constraint kept_output_bytes CHECK ((bytes >= 0))
  constraint kept_output_pkey PRIMARY KEY (day, account_id)

table runledger.ledger_check
  The one row in which runledger.check_ledger stores its findings and its progress.
  single boolean not null default true
  checked_at timestamp with time zone: When the last check ran; null before the first one.
  drift bigint not null default 0: Rows of audit.drift in the streams that the last check covered. broken_chain and invariant count the rows of the other two views.
  broken_chain bigint not null default 0
  invariant bigint not null default 0
  suspects uuid[] not null default '{}'::uuid[]: Streams with a finding. Every check covers them until nothing is found there any more.
  walked_up_to uuid not null default '00000000-0000-0000-0000-000000000000'::uuid: The id that the walk through the whole log has reached.
  walked_at timestamp with time zone: When a walk last reached the end of the log; null before the first time.
  constraint ledger_check_pkey PRIMARY KEY (single)
  constraint ledger_check_single CHECK (single)
  grant select to runledger_api

table runledger.live_output
  Events of watched runs, in the form in which streams send them. They are removed when the submission has ended, because runledger.output then has the output. Unlogged: a crash empties the table.
  submission_id uuid not null
  run text not null: The id of the attempt, as in execution.started.
  seq integer not null: The number of the event in its attempt: 1, 2, 3 … without gaps.
  id text not null: The id of the event, for Last-Event-ID.
  event text not null
  data text not null: The data of the event, as JSON.
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
  How the growing tables are partitioned. An operator may change a row at any time. runledger.make_partitions reads it.
  table_name text not null
  width interval not null: The time that a new partition covers; existing partitions do not change.
  ahead integer not null: The number of partitions that are created before they are needed.
  constraint partitioning_ahead CHECK (((ahead >= 1) AND (ahead <= 1000)))
  constraint partitioning_pkey PRIMARY KEY (table_name)
  constraint partitioning_table CHECK ((table_name = ANY (ARRAY['event'::text, 'body'::text, 'output'::text])))
  constraint partitioning_width CHECK ((width >= '00:01:00'::interval))

table runledger.pending
  The state of each unfinished submission. A cache of the view runledger.pending_from_log, except for admitted, position, waiters and is_parked, which the log does not have. The transaction that ends a submission deletes its row.
  submission_id uuid not null
  account_id uuid not null
  api_key_id uuid not null
  language text not null
  is_low boolean not null default false: The submission has low priority: it waits until no submission of normal priority waits.
  requires jsonb: The part of submission.received that a worker must know before it starts the submission: limits, demands, checker_language, detail. Null: nothing.
  version integer not null: The version of the last event of its stream, which the next event follows.
  hash bytea not null: The hash of the last event of its stream.
  is_running boolean not null default false: True when an attempt of the submission is under way.
  is_cancelled boolean not null default false: True when cancellation of the running attempt was requested (submission.cancel_requested).
  attempts integer not null default 0: The number of attempts that were started.
  run text: The id of the last attempt. worker_id, runtime, limits and started_at describe the same attempt.
  worker_id uuid
  runtime text
  limits jsonb
  created_at timestamp with time zone not null
  started_at timestamp with time zone
  tag text
  output_encoding text
  rerun_of uuid
  batch_id uuid: The batch that the submission belongs to, if the batch has a webhook.
  admitted boolean not null: True when the submission has a job; false while its key has as many executing as its tier allows.
  position bigint: Its position in the fair queue (job.find_position), which it keeps while it runs, unless it lends its slot (runledger.lend_slot). Null before admission, and for low priority.
  waiters text[]: Channels of the processes that wait for the end. They are notified after its commit.
  is_parked boolean not null default false: True when the attempt has lent its slot between two tests and waits, at its position, for a slot.
  constraint pending_pkey PRIMARY KEY (submission_id)
  INDEX pending_by_account ON runledger.pending USING btree (account_id, "position")
  INDEX pending_by_batch ON runledger.pending USING btree (batch_id) WHERE (batch_id IS NOT NULL)
  INDEX pending_by_position ON runledger.pending USING btree ("position")
  INDEX pending_by_rank ON runledger.pending USING btree (api_key_id, admitted, is_low, submission_id)
  INDEX pending_by_worker ON runledger.pending USING btree (worker_id) WHERE (worker_id IS NOT NULL)
  INDEX pending_running ON runledger.pending USING btree ("position") WHERE (is_running AND ("position" IS NOT NULL))
  grant select (submission_id, is_cancelled) to runledger_worker

table runledger.rate_window
  When a key's requests of the last 60 seconds were admitted, and how many at each time: a sliding window, shared by all web processes. Exact up to 100 requests; beyond that the requests of a quarter of a second share the time of the last one, so that the row stays small.
  api_key_id uuid not null
  admitted_at timestamp with time zone[] not null
  requests integer[] not null
  constraint rate_window_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES runledger.api_key(id)
  constraint rate_window_pkey PRIMARY KEY (api_key_id)

table runledger.rerun
  Submissions that repeat another one. A cache of the view runledger.rerun_from_log, which defines it.
  submission_id uuid not null
  rerun_of uuid not null: The original submission; a rerun of a rerun names the same original.
  campaign text: The name under which an operator repeated many submissions; null: the caller asked for this rerun.
  constraint rerun_pkey PRIMARY KEY (submission_id)
  INDEX rerun_by_original ON runledger.rerun USING btree (rerun_of)
  UNIQUE INDEX rerun_once_a_campaign ON runledger.rerun USING btree (campaign, rerun_of) WHERE (campaign IS NOT NULL): A campaign repeats a submission once, however often the campaign is started.

table runledger.result
  The result of each finished submission, written at its end; a purge of its bodies adds the time. A cache of the view runledger.result_from_log, which defines it; audit.drift shows the difference, which stays empty.
  id uuid not null
  account_id uuid not null
  api_key_id uuid not null
  version integer not null: The version of the stream that the row was made from.
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
  purged_at timestamp with time zone: When the bodies were removed, by retention or at the caller's request.
  tag text: A text that the caller chose for the submission.
  output_encoding text: How answers encode outputs: null for text, else base64.
  exceeded text: The limit that ended the run: cpu_time, wall_time, memory, stdout, stderr or total_time.
  compile jsonb: The compiler's result and resource use, from execution.completed; null without a compiler.
  rerun_of uuid: The original submission that this one repeats; null: this is no rerun.
  slot_seconds double precision: How long the last attempt had a slot, as its worker measured it. Null when the submission did not end with an attempt's result.
  score double precision: The points of the passed tests, out of max_score. Both are null where no test has points, and unless the submission has completed.
  max_score double precision
  constraint result_pkey PRIMARY KEY (id)
  constraint result_status CHECK ((status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])))
  constraint result_verdict CHECK ((verdict = ANY (ARRAY['AC'::text, 'WA'::text, 'CE'::text, 'RE'::text, 'TLE'::text, 'MLE'::text, 'OLE'::text, 'IE'::text])))
  INDEX result_by_account ON runledger.result USING btree (account_id, id DESC)
  INDEX result_by_end ON runledger.result USING btree (account_id, finished_at DESC) WHERE (slot_seconds IS NOT NULL)
  INDEX result_by_tag ON runledger.result USING btree (account_id, tag, id DESC) WHERE (tag IS NOT NULL)
  grant select to runledger_api

table runledger.schema_migration
  Which migrations were applied, and the hash of each file: an edited one is refused.
  name text not null
  sha256 text not null
  applied_at timestamp with time zone not null default now()
  constraint schema_migration_pkey PRIMARY KEY (name)
  grant select to runledger_api
  grant select to runledger_worker

table runledger.sweep
  The one row that says when lost workers were last looked for (runledger.sweep_workers).
  single boolean not null default true
  swept_at timestamp with time zone not null
  constraint sweep_pkey PRIMARY KEY (single)
  constraint sweep_single CHECK (single)

table runledger.tier
  The limits of an API key. runledger.define_tier creates and changes tiers and appends an event.
  name text not null
  requests_per_minute integer: Requests in any 60 seconds; null is unlimited.
  concurrent_executions integer: Submissions of one key executing at once; null is unlimited.
  limits jsonb not null default '{"disk": 268435456, "memory": 1073741824, "stderr": 1048576, "stdout": 2097152, "cpu_time": 15, "processes": 256, "wall_time": 30}'::jsonb: The upper bounds of a submission's own limits, for the run and for the compiler. A language's default is always allowed.
  blob_bytes bigint default 268435456: The most bytes of blobs that an account may have after an upload with a key of this tier; null is unlimited.
  weight integer not null default 1: The account's share of the slots, as a multiple of the share of an account with weight 1.
  total_seconds integer not null default 600: The most seconds of wall time that a submission's compiler, tests and checkers may take together.
  output_bytes bigint: The most bytes of an account's outputs that are kept in a day. Of outputs beyond it, only the beginning is kept. Null is unlimited.
  cores integer: The most cores that a box may use at once, bounded by the cores of its worker. Null: the worker's share for a slot.
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
  Submissions whose output web processes want while the program runs. Unlogged: a crash empties the table.
  submission_id uuid not null
  channel text not null: The channel that notifies the web process. Its name is secret.
  expires_at timestamp with time zone not null
  constraint watch_pkey PRIMARY KEY (submission_id, channel)
  INDEX watch_by_expiry ON runledger.watch USING btree (expires_at)
  grant select (submission_id, expires_at) to runledger_worker

table runledger.worker
  Worker processes: one row for each start. A live worker holds the advisory lock (71830, lock_key) and renews its lease.
  id uuid not null
  host text not null
  pid integer not null
  slots integer not null
  languages jsonb not null: The languages that the worker runs, each with its version, command lines and limits.
  lease_seconds double precision not null: A worker that has not renewed its lease for this long is lost. It renews thirty times in this time.
  lock_key integer not null generated always as identity: Second key of the session advisory lock, which PostgreSQL frees at once when the process is killed.
  queue_pool_ids text[] not null default '{}'::text[]: graphile-worker's ids of the worker's pools; its locked jobs are freed by them.
  started_at timestamp with time zone not null default now()
  renewed_at timestamp with time zone not null default now(): When the lease was last renewed, by the database's clock. A frozen process stops renewing.
  stopped_at timestamp with time zone
  is_lost boolean not null default false: True when another process declared the worker lost (runledger.sweep_workers); false while it lives or when it ended by itself.
  suspended_at timestamp with time zone: Since when the worker takes no submissions, because its sandbox failed; null when it takes them.
  version text: The version of Runledger.
  isolation jsonb: How the worker's boxes are made: box (keeper), cgroup (v1 or v2), uid (slot or worker).
  suspended_because text: What failed, as the worker describes it; null when the worker is not suspended.
  wanted text not null default 'working'::text: What operators want of the worker. working; paused: it takes nothing; drained: it takes nothing and ends when its submissions have finished; restarted: it drains and then starts again under another id. Only runledger.command_worker changes it.
  constraint worker_lease CHECK ((lease_seconds > (0)::double precision))
  constraint worker_pkey PRIMARY KEY (id)
  constraint worker_wanted CHECK ((wanted = ANY (ARRAY['working'::text, 'paused'::text, 'drained'::text, 'restarted'::text])))
  INDEX worker_alive ON runledger.worker USING btree (renewed_at) WHERE (stopped_at IS NULL)

type runledger.ended_submission
  A submission that has just ended (runledger.end_submissions). n: its number in the call; waiters: the channels to notify; notification: the payload to send to them, if it is short enough.
  n bigint
  waiters text[]
  notification text

type runledger.received_request
  A request whose submissions are being received (runledger.store_received). n: its number in the call; most: the most submissions of its key that may execute at once.
  n integer
  api_key_id uuid
  account_id uuid
  weight integer
  most integer
  waiter text

type runledger.submission_answer
  A submission as its caller reads it (runledger.read_result), which is also what a notification of its end contains: result, outputs, last attempt and webhook.
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
  Accounts. blob_bytes: the bytes of their blobs that count against the quota; output_bytes_today: bytes kept today (UTC) of their runs' outputs, as of some seconds ago.
  id uuid
  name text
  created_at timestamp with time zone
  blob_bytes bigint
  output_bytes_today bigint
  grant select to runledger_api
  grant select to runledger_auditor

view audit.altered_body
  Code, inputs, outputs and other bodies whose bytes do not have the hash that the log has. Empty when nobody changed them.
  submission_id uuid
  part text
  logged_sha256 text
  sha256 text
  grant select to runledger_auditor

view audit.api_key
  API keys, without their secrets; label is the key's first characters.
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
  Blobs: account, SHA-256, size, when each was uploaded, and when it was last used (to within half a day). Never the bytes.
  account text
  account_id uuid
  sha256 text
  bytes integer
  created_at timestamp with time zone
  used_at timestamp with time zone
  grant select to runledger_auditor

view audit.body
  Whether a submission's bytes are still kept, with their current sizes and hashes, to compare with those in its events. Never the bytes.
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
  Events that were changed after they were written, or whose predecessor was changed or removed. Empty when nobody did either. A condition on stream_id limits how much of the log is read.
  position bigint
  stream_id uuid
  stream_version integer
  type text
  recorded_at timestamp with time zone
  grant select to runledger_api
  grant select to runledger_auditor

view audit.drift
  Rows of a table that differ from the log, which the table is made from: the row in the table, and the row according to the log. Empty when all is well; `rebuild` repairs it.
  projection text
  id uuid
  cached jsonb
  in_the_log jsonb
  grant select to runledger_auditor

view audit.event
  The log itself. Filter by stream_id and order by stream_version to read the events of one submission.
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
  One row for each attempt: its worker, limits, isolation and result. slot_seconds: how long the attempt had a slot, by its worker's clock; null when the attempt has no result.
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
  One row: the state of the whole service for operators, as JSON (runledger.read_overview). Its cost grows with the unfinished submissions, not with the history.
  overview jsonb
  grant select to runledger_api
  grant select to runledger_auditor

view audit.partition
  The partitions of the log, the bodies and the outputs, with the times at which their ids were made. The default partitions cover all other ids; their bounds are null.
  table_name text
  name text
  lower uuid
  upper uuid
  starts_at timestamp with time zone
  ends_at timestamp with time zone
  grant select to runledger_auditor

view audit.rerun
  One row for each rerun, beside the submission that it repeats: the runtime and the result of both.
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
  One row for each submission that runs now: account, key, attempt, worker and start.
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
  One row for each language with a submission that runs or waits for a slot: how many slots the language needs now, for a controller that starts and stops workers. Reads unfinished submissions only.
  language text
  running integer
  waiting integer
  oldest_seconds double precision
  wanted_slots integer
  grant select to runledger_auditor

view audit.submission
  One row for each submission, computed from the log: its account and key, and its result. Times in seconds, memory in bytes.
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
  The limits of keys: requests in any 60 seconds, concurrent executions; null is unlimited. keys: the number of valid keys; limits: the upper bounds of a submission's limits; blob_bytes: the most bytes of blobs of an account; weight: of the account's share of the slots; total_seconds: how long a submission may run in all; output_bytes: the most bytes of an account's outputs that are kept in a day; cores: the most that a box may use at once, null: its slot's share of the worker's cores; batch_items: the most submissions of a batch.
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
  One row for each submission or batch with a webhook: its state, the outcome of the last attempt, when the next is due. The stream webhook_id has all events.
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
  One row for each attempt to deliver a webhook: the receiver's answer, with its first bytes in snippet, or why there was none.
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
  Worker processes, past and present: version, isolation, languages and state. suspended_at: since when a worker takes no submissions, because its sandbox failed.
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
  The state and the number of attempts of every webhook, computed from the log. The table runledger.delivery caches them, with the address and the secret.
  submission_id uuid
  webhook_id uuid
  attempts integer
  state text

view runledger.finding
  All findings, one row each: the rows of audit.drift, audit.broken_chain and audit.altered_body, and the other rows of audit.invariant. check (drift, broken_chain, altered_body, promise), the stream, the broken event's position, its description, and the promise that does not hold.
  check text
  stream uuid
  position bigint
  what text
  promise text

view runledger.pending_from_log
  The state of each submission that has no terminal event, according to the log. The table runledger.pending caches it, with columns that the log does not have.
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
  Submissions that repeat another one, according to the log. The table runledger.rerun caches this view.
  submission_id uuid
  rerun_of uuid
  campaign text

view runledger.result_from_log
  Every finished submission according to its events. The table runledger.result caches this view.
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
  Every submission: the unfinished ones from runledger.pending, the finished ones from runledger.result.
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
  Every submission according to its events, finished or not: the rows that runledger.submission shows.
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
  The rows of runledger.submission that have not ended.
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

function job.add_executions(jobs graphile_worker.job_spec[])
  Adds jobs (job.describe_execution) and notifies the workers.
  returns void

function job.describe_execution(submission_id uuid, language text, is_low boolean, queue_position bigint, delay_seconds integer DEFAULT 0, goes_first boolean DEFAULT false)
  Returns the job of a pending submission. queue_position: as in runledger.pending; null for low priority, which comes after all others, in the order of arrival. delay_seconds: the job is not taken earlier. goes_first: before all others of its priority.
  returns graphile_worker.job_spec stable

function job.enqueue_deliveries(webhook_ids uuid[], run_at timestamp with time zone)
  Enqueues one attempt to deliver each webhook, in the caller's transaction.
  returns void security definer set search_path=pg_catalog, pg_temp

function job.enqueue_executions(submission_ids uuid[], delay_seconds integer DEFAULT 0)
  Adds the jobs of pending submissions, each in place of the job that it may have; returns how many. A submission keeps its position, or gets one, in the order of the ids. One that has lost an attempt goes first, however often its job is added. delay_seconds: as in job.describe_execution. A submission that has ended gets none.
  returns integer security definer set search_path=pg_catalog, pg_temp

function job.find_position(account_id uuid, weight integer)
  Returns the positions of the account's next submissions: the n-th of a set (1, 2, …) gets start + n * step. start: the account's last position, or the virtual time if that is later. step: the price of one submission, which is the mean slot time of the account's last eight results (0.1 s without any; at most ten minutes of each), divided by weight.
  returns TABLE(start bigint, step bigint) stable

function job.position_time(queue_position bigint)
  Returns the run_at of a job at this position: graphile-worker takes jobs by priority and run_at. Now for null, because low-priority jobs have no position.
  returns timestamp with time zone stable

function runledger.add_blob_chunk(api_key_id uuid, sha256 bytea, number integer, content bytea)
  Adds a chunk to a blob that this transaction has created. 55000: this transaction has created no such blob; an existing blob never changes.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.admit_request(digest bytea, role text DEFAULT 'submit'::text)
  Returns the valid key with this digest and role, and whether its rate window admits one more request; an operator's key has no window. No row: there is no such key. reset_seconds: the window admits at least one more request after this many seconds. limits: the upper bounds of a submission's limits; batch_items: the most items of a batch.
  returns TABLE(api_key_id uuid, account_id uuid, key_digest bytea, admitted boolean, quota integer, remaining integer, reset_seconds integer, limits jsonb, batch_items integer, read_only boolean) security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.admit_waiting(api_key_id uuid, most integer DEFAULT 1000)
  Enqueues as many of a key's waiting submissions as its tier allows, low priority last and the oldest first, but no more than `most`; returns how many. Every end calls it, so that exactly the tier's number run.
  returns integer security definer set search_path=pg_catalog, pg_temp

function runledger.append_event(stream_id uuid, stream_version integer, type text, schema_version integer, data jsonb, metadata jsonb, previous_hash bytea DEFAULT NULL::bytea)
  Appends one event at the given version, or (null) after the last one; returns its hash. previous_hash: the previous event's hash, if the caller knows it; otherwise it is looked up. 23505: another session has appended at this version. RL002: the version would leave a gap.
  returns bytea

function runledger.append_interrupted(pending runledger.pending, schema_version integer, data jsonb, metadata jsonb)
  Appends execution.interrupted to a running submission and returns its new row. The submission has no job then.
  returns runledger.pending

function runledger.await_submissions(submission_ids uuid[], waiter text)
  Requests a notification on the channel waiter when each of the submissions has ended. Read their state after this call, not before.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.cancel(submissions uuid[], account_id uuid, metadata jsonb)
  Cancels submissions of the account; one row for each that the account has. cancelled: it waited and has ended; requested: it runs, and the caller must notify its worker after the commit (runledger_cancel); ended: it had ended before. waiters: as in runledger.conclude.
  returns TABLE(submission_id uuid, state text, waiters text[]) security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_api

function runledger.change_key(api_key_id uuid, type text, schema_version integer, data jsonb, metadata jsonb)
  Moves a key to another tier (api_key.changed, data.tier), revokes it (api_key.revoked) or sets the end of its overlap (api_key.rotated, data.works_until), which never extends it, and appends that event. False when the key is unknown, revoked or expired. 23503: there is no such tier.
  returns boolean security definer set search_path=pg_catalog, pg_temp

function runledger.check_ledger(events integer)
  The reconciler's step, unless one ran in the last 8 seconds. Verifies the streams of so many newest events, the next so many events of a walk through the whole log, which starts again at its end, and the streams with earlier findings. Stores the findings in runledger.ledger_check. Returns up to ten streams that had no finding before.
  returns uuid[] security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api
  grant execute to runledger_worker

function runledger.closes_submission(type text)
  True for the types of events that end a submission.
  returns boolean immutable
  grant execute to runledger_auditor

function runledger.command_worker(worker_id uuid, wanted text, schema_version integer, metadata jsonb)
  Writes a command into a worker's row and appends its event: worker.paused, worker.resumed, worker.drained or worker.restarted. Returns the worker's new state. changed is false, and there is no event, when the command was in effect already, or the worker drains or restarts. No row: there is no such live worker.
  returns TABLE(id uuid, host text, state text, wanted_now text, changed boolean) security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api
  grant execute to runledger_worker

function runledger.conclude(items jsonb)
  Ends the attempts of items, an array of objects: submission_id, started_version (of its execution.started), run (of the same event; null: any), schema_version and data of the event, metadata, and in base64 or null stdout, stderr, compile_output, report. Appends execution.completed to each, or, where cancellation was requested, submission.cancelled with the same data without the verdict. Returns one row for each item, in their order. refusal: null, or why nothing was written. stored: an earlier call has written this end. superseded: the attempt was lost, so its result must be dropped. start_lost: a crash of PostgreSQL lost the start, so the submission must be started again. no_verdict: data has no verdict, and no cancellation was requested. waiters: channels to send notification to after the commit; null: none. notification: the row of runledger.read_result as JSON, or the id alone, if that is too long or the submission was cancelled.
  returns TABLE(refusal text, waiters text[], notification text) security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_worker

function runledger.count_blob(bytes integer)
  Returns the bytes that a blob of this size counts against the quota: at least 4 KiB.
  returns integer immutable
  grant execute to runledger_auditor

function runledger.count_output(kept jsonb)
  Adds bytes to the kept outputs of accounts today (UTC). kept: an object of numbers by the account's id; 0 only asks. Returns for each account the bytes kept today, and the most that its tier allows. Of several valid keys, the widest tier counts; null is unlimited.
  returns TABLE(account_id uuid, bytes bigint, most bigint) security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.define_tier(schema_version integer, data jsonb, metadata jsonb)
  Creates a tier, or changes it for all its keys, and appends tier.defined. data: columns of runledger.tier; null is unlimited. Columns and single limits that data leaves out do not change.
  returns void security definer set search_path=pg_catalog, pg_temp

function runledger.displace_low(api_key_id uuid)
  Revokes the admission of a key's newest low-priority submission that has not started: it waits again to be admitted (admit_waiting). False: there is none. The caller holds the key's lock.
  returns boolean

function runledger.drop_partition(older_than interval)
  Drops an empty partition of runledger.body or runledger.output that ended longer ago than that; returns its name. Null: there is none, or a session uses it.
  returns text security definer set search_path=pg_catalog, pg_temp, lock_timeout=500ms
  grant execute to runledger_worker

function runledger.end_submissions(items jsonb, are_attempts boolean DEFAULT false)
  Ends submissions: appends the event of each item and does what follows from an end: result and outputs, the jobs of webhooks, the key's next submission. items: as in runledger.conclude; unless they are attempts, an item also has the type of its event, and started_version is the submission's version. Returns the submissions that ended. Where a row differs from the log, its submission does not end, and the caller must repair the row (runledger.refresh_submissions).
  returns runledger.ended_submission[]

function runledger.estimate_drain()
  Returns how many submissions ended per second, by the last ten ends within 60 seconds and the newest 10,000 events. 0 with fewer than two ends, and while every live worker is paused or drains.
  returns double precision stable security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.find_bulk(action text, filter jsonb, after uuid, most integer)
  Finds submissions after this id that match the filter. filter: until, and optionally since, account (its name), language, status, verdict, tag; for replay webhook (a state), for rerun campaign. Returns count; skipped: matches that cannot be rerun, because the campaign has repeated them (done), their body is purged (purged) or no worker offers the languages (not_offered); items (id, account_id, webhook_id, state), at most `most`, none where that is null; next: the cursor, null at the end. A webhook that was replayed since until does not match.
  returns jsonb stable security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_custom_plan, jit=off, enable_seqscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_material=off
  grant execute to runledger_api

function runledger.find_operator_key(account_id uuid, api_key_id uuid, schema_version integer, metadata jsonb)
  Returns the key of the account under which operators submit; creates it with this id when there is none, and revokes it at once. Null: there is no such account. 23503: there is no tier `unlimited`.
  returns uuid security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.find_refusal(item jsonb)
  Returns the reason why an item of runledger.conclude ended nothing.
  returns text stable

function runledger.flush_log()
  When its transaction has been committed, every earlier commit is on disk.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.forget_output(submission_id uuid, run text)
  Removes the events of one attempt at its end, because the result has them or another attempt starts.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.has_room(submissions integer, capacity integer, account_id uuid DEFAULT NULL::uuid, of_account integer DEFAULT 0)
  True when the queue has room for so many more submissions, not counting those that are being received at this moment. A full queue takes a few more of each account, so that no account keeps another out: an account may have a fiftieth of the capacity, including of_account submissions, and all such accounts together may exceed the capacity by a quarter.
  returns boolean

function runledger.hash_event(previous_hash bytea, stream_id uuid, stream_version integer, type text, schema_version integer, data jsonb, metadata jsonb, recorded_at timestamp with time zone)
  SHA-256 over the previous event's hash and one event's content.
  returns bytea immutable
  grant execute to runledger_api
  grant execute to runledger_auditor

function runledger.interrupt(submission_id uuid, started_version integer, run text, schema_version integer, data jsonb, metadata jsonb, is_last boolean DEFAULT false)
  Records the loss of an attempt. started_version, run (null: any): of its execution.started. schema_version, data: of execution.interrupted. is_last: a further attempt would fail too. outcome: requeued: the next attempt is enqueued; ended: by execution.abandoned, because it was the last attempt or three were lost, or by submission.cancelled, because that was requested; superseded: nothing was written, another event has ended this attempt; start_lost: nothing was written, this run's start is not in the log. waiters: as in runledger.conclude.
  returns TABLE(outcome text, waiters text[]) security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_worker

function runledger.is_undelivered(submission_id uuid)
  True when a webhook of the submission or of its batch still has to be delivered.
  returns boolean stable

function runledger.is_worker_alive(worker_id uuid)
  False for a worker that has stopped, has not renewed within its lease, or has lost its session lock (71830, lock_key). The lock may be missing for a fifteenth of the lease after a renewal, and for the lease and 5 s after a start of PostgreSQL.
  returns boolean stable security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api
  grant execute to runledger_auditor
  grant execute to runledger_worker

function runledger.issue_key(api_key_id uuid, account_id uuid, digest bytea, schema_version integer, data jsonb, metadata jsonb)
  Stores a key's digest and appends api_key.issued. data: of the event, and what is stored beside the digest. Creates the account, with this id, if none has its name. RL024: the key replaces a key of another role.
  returns void security definer set search_path=pg_catalog, pg_temp

function runledger.lend_slot(submission_id uuid, run text, seconds double precision, offers jsonb, capabilities jsonb)
  Decides whether a submission that is between two tests, after having its slot for so many seconds, lends the slot. True: another account is next by the fair order. The submission is parked, at a position later by these seconds, and its job (continue:<worker>) says when it goes on. False: it goes on at once; where another account waits at a later position, the seconds are counted all the same. A repeated call while it is parked adds the job again. offers, capabilities: as in runledger.suits_worker.
  returns boolean security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_sort=off
  grant execute to runledger_worker

function runledger.list_blobs(list bytea)
  Returns the SHA-256 of each blob in a list that has the form of runledger.body.blobs.
  returns SETOF bytea immutable
  grant execute to runledger_auditor

function runledger.list_recent_language(period interval)
  Returns the languages that workers have run within the period, up to now, each with the version of such a worker. offer: rows with the same number are offered by one worker; workers with equal offers share a number. is_offered_now: one of these workers has not stopped.
  returns TABLE(name text, version text, offer bigint, is_offered_now boolean) stable security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.list_subjects(submissions uuid[])
  Returns the subjects of the webhooks of these submissions: each submission itself and, if it has one, its batch.
  returns SETOF uuid stable

function runledger.lock_submissions(submissions uuid[])
  Locks submissions, makes their rows equal to the log, and then locks their batches, before the first of them is interrupted or cancelled, which also locks a key. If they were locked one after another, a key would be locked before the next submission, the reverse of the order in which an end locks them, and the two calls could deadlock.
  returns void

function runledger.make_partitions()
  Creates the partitions that runledger.partitioning asks for, and the trigger of the log where it is missing; returns the partitions' names. 55P03: a reader held a lock for a tenth of a second; try again later.
  returns SETOF text security definer set search_path=pg_catalog, pg_temp, TimeZone=UTC, lock_timeout=100ms
  grant execute to runledger_worker

function runledger.name_file(api_key_id uuid, id text, sha256 bytea)
  Gives a blob of the key's account this id, taking it from another blob that had it. Only the newest 64 ids of the blob are kept.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.oldest_release()
  Returns the oldest release that this schema supports: web processes, workers and migrations of older releases refuse to start.
  returns text immutable
  grant execute to runledger_api
  grant execute to runledger_worker

function runledger.postpone_delivery(webhook_id uuid, version integer, seconds double precision)
  Makes a pending delivery due in so many seconds, without an attempt. Does nothing when its stream has events after the given version.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.publish_output(runs jsonb)
  Publishes further events of runs. runs: an array of objects: submission, run, and events {seq, id, event, data}, which may be empty. Returns for each run the next seq; events that start with another seq, as after a crash, are dropped. `next_seq` is null and nothing is stored when nobody watches.
  returns TABLE(run text, next_seq integer, is_base64 boolean) security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_worker

function runledger.purge_blobs(older_than interval, batch integer)
  Removes at most `batch` blobs that no unfinished submission names and that were last used longer ago than older_than plus half a day to a day; returns how many. 0: none is left, or another session purges now.
  returns integer security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.purge_bodies(older_than interval, batch integer)
  Removes the bodies and outputs of at most `batch` submissions that ended longer ago than that, and appends submission.purged to each; returns how many. 0: none is left, or another session purges now.
  returns integer security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.purge_submission(submission_id uuid, account_id uuid, metadata jsonb)
  Removes the bodies and outputs of one submission at the request of its account, and appends submission.purged. Returns purged; unfinished or undelivered (its webhook or its batch's webhook): nothing was done; null: the account has no such submission, or it was purged before.
  returns text security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.read_batch(batch_id uuid)
  Returns the results of the members of a batch that have ended, in the order of its items.
  returns TABLE(id uuid, status text, verdict text, finished_at timestamp with time zone) stable security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.read_class_load()
  One row for each tier, language and priority with waiting submissions, at most the 200 with the most: how many do not run yet, and the age of the oldest.
  returns TABLE(tier text, language text, priority text, waiting bigint, oldest_seconds double precision) stable security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.read_delivery(webhook_id uuid)
  Returns a delivery whose next attempt is due: the number of the attempt in all and since the last replay, the version of its stream, which the attempt's event must follow, its format (null: the default), and whether submission_id is a batch. No row: the delivery has ended or is not due.
  returns TABLE(submission_id uuid, account_id uuid, url text, secret text, attempt integer, round_attempt integer, version integer, output_bytes bigint, format text, is_batch boolean) stable security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.read_files(account_id uuid, ids text[], most integer)
  Returns an account's files with these ids, and notes that they are used. content is null when they have more than `most` bytes in all.
  returns TABLE(id text, content bytea) security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.read_live_output(asked jsonb)
  Returns for each item of `asked` (place is its number) the submission's status (null when there is none), its last attempt and, while it runs, the next events after `seq` of `run`, or from the beginning of the last attempt if that is another run. One row for each event, or one row without an event. The caller must have checked whose submissions they are.
  returns TABLE(place integer, status text, is_final boolean, run text, event_id text, event text, data text) stable security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_api

function runledger.read_load()
  Returns unfinished submissions (waiting to be admitted by their key's limit, queued, running), the age of the oldest that does not run, live workers, the slots of those that take submissions, webhooks not delivered yet, live workers that take none because their sandbox failed, live workers that take none because of an operator's command, and how long the oldest job that a worker could take has waited.
  returns TABLE(waiting bigint, queued bigint, running bigint, oldest_waiting_seconds double precision, workers bigint, slots bigint, deliveries_pending bigint, suspended_workers bigint, paused_workers bigint, oldest_queued_seconds double precision) stable security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.read_outcome(type text, data jsonb)
  Returns one row: the result columns from the data of execution.completed, execution.abandoned or submission.cancelled.
  returns TABLE(status text, verdict text, exit_code integer, signal text, stdout_truncated boolean, stderr_truncated boolean, cpu_time double precision, wall_time double precision, memory_peak bigint) immutable
  grant execute to runledger_auditor

function runledger.read_overview()
  Returns the oldest waiting submission, the load (as in read_load), languages, the twenty accounts with the most unfinished submissions and the ten busiest keys of each (null is unlimited), workers that have not ended, how recent submissions ended, and the last findings of the reconciler in the ledger. The cost grows with the unfinished submissions, not with the history.
  returns jsonb stable security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_custom_plan, jit=off, enable_seqscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_material=off
  grant execute to runledger_api
  grant execute to runledger_auditor

function runledger.read_progress(since xid8, since_position bigint)
  Returns events of ended attempts, cancelled submissions and webhooks, from transactions since `since` and before `until`; at least one row, whose type is null when there are none. In the next call pass `until` as since, and as since_position the newest_position of an earlier call whose `begun` is at most that `until`.
  returns TABLE(until xid8, begun xid8, newest_position bigint, type text, language text, verdict text, reason text, outcome text, attempt_seconds double precision, queue_seconds double precision, compile_seconds double precision, run_seconds double precision, total_seconds double precision, blobs_read integer, blobs_fetched integer) stable security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_custom_plan, jit=off, enable_seqscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_material=off
  grant execute to runledger_api

function runledger.read_recent_ends(period interval, events integer)
  Returns the submissions received and ended within the period, as far as so many of the newest events reach; seconds is the time that they cover. waited, ran and took (receipt to end) cover completed submissions.
  returns jsonb stable security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_custom_plan, jit=off, enable_seqscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_material=off

function runledger.read_requirements(received jsonb)
  Returns limits, demands, checker_language and detail of a submission.received; null when it has none of them.
  returns jsonb immutable
  grant execute to runledger_auditor

function runledger.read_result(submission_id uuid, account_id uuid)
  Returns one submission of an account with its outputs (null once purged), its last attempt and its webhook; no row when the account has no such submission.
  returns SETOF runledger.submission_answer stable security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_api

function runledger.read_series(step interval, steps integer, most integer)
  Returns so many steps up to now; the last one is not over. Each has at (its start), seconds, received, ended and failed (of the submissions received since the first step), waiting (for admission or a worker, at its end) and waited_p95 (of the submissions received in the step; null: none started or waits). Reads about `most` submissions, at most five times as many. share: the part of the time that was sampled.
  returns jsonb stable security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_custom_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_sort=off
  grant execute to runledger_api

function runledger.rebuild_batch(after uuid, batch integer)
  Rebuilds the projections of the next submissions after the given id from the log; returns the last id (null: these were the last), the number of submissions in the log, and the number of repaired rows.
  returns TABLE(last uuid, submissions integer, repaired integer) security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_custom_plan, jit=off, enable_seqscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_material=off

function runledger.receive(requests jsonb, submissions jsonb, durable boolean DEFAULT true)
  Receives the submissions of requests. requests: an array of objects with submission_id (of its first submission), submissions (how many), api_key_id, capacity (the most unfinished submissions of all keys, including these; null: not checked), idempotency_key and request_digest (which identifies equal requests under one key), batch_answer (the answer to a repeated batch), waiter (a channel to notify of the end), by_operator (the key need not be valid), batch (an object with id, webhook_id, webhook_url, webhook_secret, schema_version, data and metadata of batch.received; none: the batch has no webhook). submissions: an array of objects with request (its number, from 1), submission_id, webhook_id, webhook_url and webhook_secret (or none), schema_version, data and metadata of the event, and in base64 code, stdin, expected_stdout, detail, blobs. Returns one row for each request; n is its number. outcome: received; replayed: the idempotency key belongs to earlier_id or batch_answer, and matches says whether the request is the same; key_refused, queue_full, blob_missing: nothing of it was written. 57014: the call took more than 1.5 s, and nothing of any request was written.
  returns TABLE(n integer, outcome text, earlier_id uuid, matches boolean, batch_answer text) security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_api

function runledger.reconcile_queue()
  Restores rows that runledger.pending lacks, adds jobs of unfinished submissions and webhooks that have none, admits submissions that have room, and deletes old idempotency keys, spent jobs and jobs of lost workers; returns how many submissions and webhooks it repaired.
  returns integer security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api
  grant execute to runledger_worker

function runledger.record_attempt(webhook_id uuid, version integer, type text, schema_version integer, data jsonb, metadata jsonb, retry_seconds double precision, abandoned_because text)
  Appends webhook.delivered or webhook.attempt_failed (and webhook.abandoned after the last attempt) after the given version, enqueues the next attempt in retry_seconds, and removes the secret at the end. 23505: another event was recorded in the meantime, so this attempt does not count.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.refresh_submissions(submission_ids uuid[])
  Makes the rows of runledger.pending and runledger.result of these submissions equal to the log; returns how many rows differed.
  returns integer

function runledger.refuse_change()
  Trigger: refuses UPDATE, DELETE and TRUNCATE with SQLSTATE RL001.
  returns trigger set search_path=pg_catalog, pg_temp

function runledger.register_worker(worker_id uuid, host text, pid integer, slots integer, languages jsonb, lease_seconds double precision, description jsonb DEFAULT '{}'::jsonb)
  Records a new worker, its return with a new session, or a change of its languages, and takes the session lock. Does nothing for a worker that was declared lost. description: version (of Runledger) and isolation, as in execution.started; succeeds: the id under which this process was declared lost, whose commands still apply.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.remove_bodies(submissions uuid[], reason text, metadata jsonb)
  Removes the bodies, outputs and webhook addresses of these submissions and their batches, and appends submission.purged to those that have none yet. Skips submissions with an undelivered webhook, of their own or of their batch. The caller has locked their results. Returns how many.
  returns integer

function runledger.renew_worker(worker_id uuid, queue_pool_ids text[], suspended_because text)
  Renews a worker's lease and records why it takes no jobs (null: it takes them). Returns what operators want of it; null when it was declared lost in the meantime.
  returns text security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.replay_delivery(webhook_id uuid, secret text, schema_version integer, metadata jsonb)
  Appends webhook.replayed and makes a delivered or abandoned webhook due now, under the same id and with a new schedule. Returns the state that it had; a webhook in any other state than delivered or abandoned does not change. purged: its address was removed; null: there is no such webhook.
  returns text security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.requeue_jobs(submission_ids uuid[], lost_by text[] DEFAULT '{}'::text[])
  Requeues, each at its position, jobs that a worker was handed and does not start: those of submission_ids, because the worker must take nothing, and those that its pools lost_by were handed at least half a second ago, because their connection lost the answer. Returns how many. If the worker has started one meanwhile, the new job does nothing.
  returns integer security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_worker

function runledger.rerun_submission(original uuid, request jsonb, at_once integer DEFAULT NULL::integer)
  Receives a submission of the account of request.api_key_id again, with the same code, input and options, but without webhook. request: as in runledger.receive, with the event's metadata, and data that is added to the event's data. With data.campaign, which repeats only originals, nothing is received when the campaign has repeated this submission (done) or has at_once reruns unfinished (busy). No row: the account has no such submission. outcome: as in runledger.receive; not_final, purged, done, busy: nothing was written. id: of the new submission, or of the replayed one.
  returns TABLE(id uuid, outcome text, matches boolean) security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_api

function runledger.start(worker_id uuid, submission_ids uuid[], runs text[], languages text[], data jsonb, programs jsonb, offers jsonb, capabilities jsonb, metadata jsonb, under_way text[] DEFAULT '{}'::text[])
  Appends execution.started for each submission, and returns what the worker must run (code is null when the body is purged) and its account; a repeated call with the same run returns the same. languages: of the jobs that were handed out. data: the event's data about the worker; programs: the event's data about each of these languages. offers, capabilities: as in runledger.suits_worker. under_way: runs that this worker has under way. No row: the submission has ended or is not admitted, runs on this or another live worker, or is enqueued again because its language differs from the job's or the worker does not suit it. A row that differs from the log is repaired first. RL005: this worker was declared lost and must register under a new id. RL027: this worker must take nothing.
  returns TABLE(submission_id uuid, run text, version integer, account_id uuid, code bytea, stdin bytea, expected_stdout bytea, detail bytea, total_seconds integer, cores double precision, has_webhook boolean) security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_generic_plan, jit=off, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off
  grant execute to runledger_worker

function runledger.start_data(data jsonb, received jsonb, cores integer, attempt integer)
  Returns the data of execution.started. data: the part that the worker reports of itself and of the program, where limits.cores is a slot's share; received: as requires in runledger.suits_worker; cores: the tier's cores for a box, or null; attempt: 1, 2, 3 …
  returns jsonb stable

function runledger.start_otherwise(submission_id uuid, run text, language text, worker_id uuid, offers jsonb, capabilities jsonb, metadata jsonb, under_way text[])
  Handles a job whose submission does not simply wait to be started (runledger.start): interrupts an attempt that no worker has under way, and enqueues the job again if it is for another worker. True: the submission can be started now.
  returns boolean

function runledger.stop_worker(worker_id uuid)
  Records that a worker stopped by itself.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.store_blob(api_key_id uuid, sha256 bytea, bytes integer, content bytea)
  Creates a blob of the key's account with its first chunk. True: the blob is new, and the same transaction must add the other chunks. False: the blob exists, and its last use is now. RL018: the account would have more bytes than the key's tier allows.
  returns boolean security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

function runledger.store_received(submissions jsonb, received runledger.received_request[], limited uuid[])
  Appends submission.received for each submission of the received requests (runledger.receive), and writes everything that belongs to it. limited: the keys of these requests whose tier limits how many submissions execute at once.
  returns void

function runledger.suits_worker(language text, requires jsonb, offers jsonb, capabilities jsonb)
  Whether a worker can run a submission. language, requires: of runledger.pending. offers, capabilities: the languages and the capabilities of the worker, as arrays.
  returns boolean stable

function runledger.summarise(figures double precision[])
  Returns the median, the 95th and the 99th percentile of these figures, each of which is one of the figures; null without any.
  returns jsonb immutable set search_path=pg_catalog, pg_temp

function runledger.sweep_workers(pause interval DEFAULT '00:00:00'::interval)
  Marks lost workers as stopped, unless a sweep began less than pause ago, interrupts attempts of workers that have stopped (which enqueues each submission again, or ends it when it was lost too often or is cancelled), at most a thousand, and frees jobs that belong to no worker. Returns the changed submissions, and then one row without a submission for each worker that was marked.
  returns TABLE(worker_id uuid, submission_id uuid, requeued boolean, host text, pid integer, silent_seconds double precision) security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api
  grant execute to runledger_worker

function runledger.take_slot(submission_id uuid, run text)
  Takes a submission that was parked out of the queue, because it goes on or has ended.
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_worker

function runledger.use_blobs(accounts uuid[], digests bytea[])
  Notes that a submission which this transaction receives names blobs of these accounts (two arrays of equal length).
  returns void

function runledger.uuid_floor(at timestamp with time zone)
  Returns the smallest id of a time; ids from before that time are smaller.
  returns uuid immutable

function runledger.uuid_time(id uuid)
  Returns the time that an id starts with.
  returns timestamp with time zone immutable set search_path=pg_catalog, pg_temp
  grant execute to runledger_auditor

function runledger.verify(after uuid, events integer, also uuid[] DEFAULT '{}'::uuid[], bodies boolean DEFAULT false)
  Checks the streams after an id, with about so many events, and those in also. Returns the number of rows in audit.drift, audit.broken_chain, audit.invariant and, with bodies, audit.altered_body; the first hundred streams with a finding; the first finding of each check; next (null at the end); share: how much of the log's time is behind next. busy: another session runs a step; try again.
  returns jsonb security definer set search_path=pg_catalog, pg_temp, plan_cache_mode=force_custom_plan, jit=off, enable_seqscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_material=off
  grant execute to runledger_api
  grant execute to runledger_auditor

function runledger.watch_submissions(submissions uuid[], channel text)
  For the next minute, workers publish the output of these submissions while it is written, and `channel` is notified, with the id, of new output and of the end (runledger.await_submissions).
  returns void security definer set search_path=pg_catalog, pg_temp
  grant execute to runledger_api

procedure runledger.conclude_and_notify(IN items jsonb, INOUT refusals jsonb DEFAULT '[]'::jsonb)
  Ends attempts (runledger.conclude), commits, and then notifies the waiters: a worker's end in one statement. Cannot run in a transaction. refusals: the refusal of each item, in their order.
  grant execute to runledger_worker

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
  Tables and functions of the service. The log is runledger.event. Results, pending submissions, deliveries and reruns can be rebuilt from it. Accounts, digests of keys, idempotency keys, blobs, and the URL and secret of a webhook cannot.
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
