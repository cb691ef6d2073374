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
