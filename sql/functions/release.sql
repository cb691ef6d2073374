-- An older release calls this before it works with this schema. A change that removes something which an older release calls
-- must name here the first release that does not call it.

create or replace function runledger.oldest_release() returns text
language sql immutable
as $$
  select '0.1.0'
$$;
comment on function runledger.oldest_release is 'Returns the oldest release that this schema supports: web processes, workers and migrations of older releases refuse to start.';
