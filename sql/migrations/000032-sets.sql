-- What comes together is written as sets: one statement a table, not one for each submission.

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

create type runledger.attempt_end as (
  submission_id uuid,
  started_version integer,
  schema_version integer,
  data jsonb,
  metadata jsonb,
  stdout bytea,
  stderr bytea,
  compile_output bytea,
  run text,
  report bytea
);
comment on type runledger.attempt_end is 'How an attempt has ended (runledger.store_ends).';
comment on column runledger.attempt_end.started_version is 'Of its execution.started.';
comment on column runledger.attempt_end.schema_version is 'Of data, which is what the event says.';
comment on column runledger.attempt_end.run is 'As its execution.started names it; null: not known.';

drop function if exists runledger.apply_event(uuid, integer, text, jsonb, timestamptz);
drop function if exists runledger.finish_submission(uuid, double precision);

create type runledger.ended_submission as (
  submission_id uuid,
  told_to text[],
  account_id uuid,
  weight integer,
  turn bigint,
  charge bigint
);
comment on type runledger.ended_submission is 'What was pending of a submission that has just ended (runledger.finish_submissions).';

create type runledger.arrival as (
  request runledger.submission_request,
  code bytea,
  stdin bytea,
  expected_stdout bytea,
  detail bytea,
  account_id uuid,
  weight integer,
  admitted boolean
);
comment on type runledger.arrival is 'A submission that is to be stored (runledger.store_arrivals).';
comment on column runledger.arrival.admitted is 'As runledger.pending has it.';

create type job.place as (
  submission_id uuid,
  language text,
  is_low boolean,
  turn bigint,
  account_id uuid,
  debt bigint,
  bytes integer
);
comment on type job.place is 'A submission''s place in the queue (job.enqueue_first).';
comment on column job.place.turn is 'Null: after all that are there.';
comment on column job.place.debt is 'Its account''s that the turn counts in (job.read_debt); null: its turn is for good.';
comment on column job.place.bytes is 'Of what is to be run; null: not known, and taken for little.';

drop function if exists job.enqueue_first(uuid, text, boolean, bigint, uuid, bigint);

create type job.execution as (
  job_id bigint,
  run text,
  submission_id uuid,
  language text,
  due_at timestamptz
);
comment on type job.execution is 'A job that a worker has taken from the queue, to begin (runledger.start_executions).';
comment on column job.execution.run is 'The attempt''s name in the log.';
comment on column job.execution.due_at is 'Its turn (job.turn_time); null for a job that does not have the usual priority.';

create type runledger.begun_execution as (
  run text,
  job_id bigint,
  submission_id uuid,
  language text,
  version integer,
  code bytea,
  stdin bytea,
  expected_stdout bytea,
  account_id uuid,
  due_at timestamptz,
  detail bytea
);
comment on type runledger.begun_execution is 'What a worker is to run (runledger.start_executions).';
comment on column runledger.begun_execution.version is 'Of its execution.started.';

drop function if exists runledger.take_execution(
  uuid, text, integer, jsonb, jsonb, jsonb, text[], timestamptz, text[], boolean, text[]
);
drop function if exists job.take_job(text[], smallint, timestamptz);
drop function if exists job.begin_turn(timestamptz);
drop function if exists job.defer_turn(uuid, text, uuid, bigint);
