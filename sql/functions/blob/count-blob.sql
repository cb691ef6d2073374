-- What a blob counts against a quota: a row and its index entries are not free, so a million empty ones are not either.

create or replace function runledger.count_blob(bytes integer) returns integer
language sql immutable parallel safe
as $$
  select greatest(count_blob.bytes, 4096)
$$;
comment on function runledger.count_blob is 'Bytes that a blob of this size counts: at least 4 KiB.';
