create or replace view audit.event as
select position, stream_id, stream_version, type, schema_version, recorded_at, data, metadata, encode(hash, 'hex') as hash,
  transaction_id
from runledger.event;
comment on view audit.event is 'The log itself. Filter by stream_id and order by stream_version to read the events of one submission.';

create or replace view audit.execution as
select
  stream_id as submission_id,
  (data ->> 'attempt')::integer as attempt,
  (data ->> 'worker')::uuid as worker_id,
  data ->> 'host' as host,
  data ->> 'runtime' as runtime,
  data -> 'limits' as limits,
  data -> 'isolation' as isolation,
  recorded_at as started_at,
  ended_by,
  ended_at,
  ended_data ->> 'verdict' as verdict,
  ended_data -> 'compile' as compile,
  ended_data -> 'run' as run,
  ended_data ->> 'reason' as interrupted_because,
  (ended_data ->> 'slot_seconds')::double precision as slot_seconds
from (
  select
    e.stream_id, e.type, e.data, e.recorded_at,
    lead(e.type) over stream as ended_by,
    lead(e.recorded_at) over stream as ended_at,
    lead(e.data) over stream as ended_data
  from runledger.event e
  -- This event requests the end of an attempt and does not end it.
  where e.type <> 'submission.cancel_requested'
  window stream as (partition by e.stream_id order by e.stream_version)
) chained
where type = 'execution.started';
comment on view audit.execution is 'One row for each attempt: its worker, limits, isolation and result. slot_seconds: how long the attempt had a slot, by its worker''s clock; null when the attempt has no result.';

-- Reads the partitions from PostgreSQL's catalogs. Bounds are ids.

create or replace view audit.partition as
select
  parent.relname::text as table_name,
  child.relname::text as name,
  bounds.lower,
  bounds.upper,
  runledger.uuid_time(bounds.lower) as starts_at,
  runledger.uuid_time(bounds.upper) as ends_at
from pg_catalog.pg_inherits
join pg_catalog.pg_class child on child.oid = pg_inherits.inhrelid
join pg_catalog.pg_class parent on parent.oid = pg_inherits.inhparent
join pg_catalog.pg_namespace on pg_namespace.oid = parent.relnamespace
cross join lateral regexp_match(
  pg_catalog.pg_get_expr(child.relpartbound, child.oid), 'FROM \(''(.+)''\) TO \(''(.+)''\)'
) bound (texts)
cross join lateral (select bound.texts[1]::uuid as lower, bound.texts[2]::uuid as upper) bounds
where pg_namespace.nspname = 'runledger' and parent.relkind = 'p';
comment on view audit.partition is 'The partitions of the log, the bodies and the outputs, with the times at which their ids were made. The default partitions cover all other ids; their bounds are null.';
