-- The other way round than runledger.uuid_floor.

create or replace function runledger.uuid_time(id uuid) returns timestamptz
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select to_timestamp(('x' || left(replace(uuid_time.id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$$;
comment on function runledger.uuid_time is 'The time with which an id begins.';
