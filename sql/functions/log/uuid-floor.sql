-- Ids are UUID v7 and begin with their time in milliseconds.

create or replace function runledger.uuid_floor(at timestamptz) returns uuid
language sql immutable parallel safe
as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;
comment on function runledger.uuid_floor is 'The smallest id of a time; ids that were made earlier are below it.';
