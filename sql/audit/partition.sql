-- The partitions in PostgreSQL's catalogs. Bounds are ids; a UUID v7 begins with its time in milliseconds.

create or replace view audit.partition as
select
  parent.relname::text as table_name,
  child.relname::text as name,
  bounds.lower,
  bounds.upper,
  to_timestamp(('x0000' || translate(left(bounds.lower::text, 13), '-', ''))::bit(64)::bigint / 1000.0) as starts_at,
  to_timestamp(('x0000' || translate(left(bounds.upper::text, 13), '-', ''))::bit(64)::bigint / 1000.0) as ends_at
from pg_catalog.pg_inherits
join pg_catalog.pg_class child on child.oid = pg_inherits.inhrelid
join pg_catalog.pg_class parent on parent.oid = pg_inherits.inhparent
join pg_catalog.pg_namespace on pg_namespace.oid = parent.relnamespace
cross join lateral regexp_match(
  pg_catalog.pg_get_expr(child.relpartbound, child.oid), 'FROM \(''(.+)''\) TO \(''(.+)''\)'
) bound (texts)
cross join lateral (select bound.texts[1]::uuid as lower, bound.texts[2]::uuid as upper) bounds
where pg_namespace.nspname = 'runledger' and parent.relkind = 'p';
comment on view audit.partition is 'How the log, the bodies and the outputs are divided, by the times at which their ids were made; the default partitions cover the rest and have no bounds.';
