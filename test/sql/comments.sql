-- \d+ serves as the manual, so every table, view, type and function of the service has a comment.

do $$
declare
  _missing text;
begin
  select string_agg(n.nspname || '.' || c.relname, ', ') into _missing
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('runledger', 'job', 'audit')
    and c.relkind in ('r', 'p', 'v')
    and c.relname <> 'schema_migration'
    and obj_description(c.oid, 'pg_class') is null;
  assert _missing is null, 'no comment on ' || _missing;

  select string_agg(format_type(c.reltype, null), ', ') into _missing
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('runledger', 'job', 'audit') and c.relkind = 'c' and obj_description(c.reltype, 'pg_type') is null;
  assert _missing is null, 'no comment on ' || _missing;

  select string_agg(n.nspname || '.' || p.proname, ', ') into _missing
  from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where n.nspname in ('runledger', 'job') and obj_description(p.oid, 'pg_proc') is null;
  assert _missing is null, 'no comment on ' || _missing;
end
$$;

-- A function that runs with its owner's rights fixes its search_path, and names pg_temp last. With a path that does not name
-- pg_temp, even an empty one, PostgreSQL looks for temporary types first.
do $$
declare
  _loose text;
begin
  select string_agg(n.nspname || '.' || p.proname, ', ') into _loose
  from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where n.nspname in ('runledger', 'job') and p.prosecdef
    and not coalesce(p.proconfig @> array['search_path=pg_catalog, pg_temp'], false);
  assert _loose is null, 'no fixed search_path on ' || _loose;
end
$$;
