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
  stream_version integer not null constraint event_version_positive check (stream_version > 0),
  type text not null constraint event_type_name check (type ~ '^[a-z_]+\.[a-z_]+$'),
  schema_version integer not null constraint event_schema_version_positive check (schema_version > 0),
  data jsonb not null,
  metadata jsonb not null,
  recorded_at timestamptz not null,
  hash bytea not null,
  constraint event_pkey primary key (stream_id, stream_version)
) partition by range (stream_id);
comment on table runledger.event is 'Everything that happened, append only. The primary key makes a second event at one version impossible.';
comment on column runledger.event.position is 'Order of insertion; not the order of commits. A cursor over the log must also use transaction_id.';
comment on column runledger.event.transaction_id is 'Lets a reader wait out transactions still open: transaction_id < pg_snapshot_xmin(pg_current_snapshot()).';
comment on column runledger.event.stream_id is 'What it happened to: a submission, a webhook delivery, an API key.';
comment on column runledger.event.stream_version is '1, 2, 3 … within the stream, without gaps.';
comment on column runledger.event.metadata is 'Who and what caused it: the request''s id, the key or the worker that acted.';
comment on column runledger.event.hash is 'sha256 over the previous event''s hash and this event''s content; see runledger.hash_event.';

create index event_by_position on runledger.event (position);
create unique index event_one_terminal on runledger.event (stream_id)
  where type in ('execution.completed', 'execution.abandoned');
comment on index runledger.event_one_terminal is 'A submission ends once.';
create index event_received on runledger.event (stream_id) where type = 'submission.received';

create table runledger.event_default partition of runledger.event default;
comment on table runledger.event_default is 'Events of streams that no other partition covers.';

create table runledger.partitioning (
  table_name text primary key constraint partitioning_table check (table_name in ('event', 'body')),
  width interval not null constraint partitioning_width check (width >= interval '1 minute'),
  ahead integer not null constraint partitioning_ahead check (ahead between 1 and 1000)
);
comment on table runledger.partitioning is 'How the two tables that grow are divided; an operator may change a row at any time. runledger.make_partitions reads it.';
comment on column runledger.partitioning.width is 'The time that one new partition covers; those that exist stay as they are.';
comment on column runledger.partitioning.ahead is 'So many partitions are made before they are needed.';
-- Bodies go by the day, so that retention can drop what a day left; the log stays, and wants few partitions.
insert into runledger.partitioning (table_name, width, ahead)
values ('event', '1 month', 3), ('body', '1 day', 14);
