-- The log. Rows are only ever added; each carries a hash over its content and its predecessor's hash, so that a
-- changed, removed or inserted row shows (audit.broken_chain).

create table runledger.event (
  position bigint generated always as identity,
  transaction_id xid8 not null default pg_current_xact_id(),
  stream_id uuid not null,
  stream_version integer not null constraint event_version_positive check (stream_version > 0),
  type text not null constraint event_type_name check (type ~ '^[a-z_]+\.[a-z_]+$'),
  schema_version integer not null constraint event_schema_version_positive check (schema_version > 0),
  data jsonb not null,
  metadata jsonb not null,
  recorded_at timestamptz not null,
  hash bytea not null,
  constraint event_pkey primary key (stream_id, stream_version)
);
comment on table runledger.event is 'Everything that happened, append only. The primary key makes a second event at one version impossible.';
comment on column runledger.event.position is 'Order of insertion; not the order of commits. A cursor over the log must also use transaction_id.';
comment on column runledger.event.transaction_id is 'Lets a reader wait out transactions still open: transaction_id < pg_snapshot_xmin(pg_current_snapshot()).';
comment on column runledger.event.stream_id is 'What it happened to: a submission, a webhook delivery, an API key.';
comment on column runledger.event.stream_version is '1, 2, 3 … within the stream, without gaps.';
comment on column runledger.event.metadata is 'Who and what caused it: the request''s id, the key or the worker that acted.';
comment on column runledger.event.hash is 'sha256 over the previous event''s hash and this event''s content; see runledger.hash_event.';

create unique index event_by_position on runledger.event (position);
create unique index event_one_terminal on runledger.event (stream_id)
  where type in ('execution.completed', 'execution.abandoned');
comment on index runledger.event_one_terminal is 'A submission ends once.';
create index event_received on runledger.event (stream_id) where type = 'submission.received';
