-- What an older release asks before it works here. Whoever removes what an older release calls (contract) names the first
-- release that does not call it.

create or replace function runledger.oldest_release() returns text
language sql immutable
as $$
  select '0.1.0'
$$;
comment on function runledger.oldest_release is 'The oldest release that this schema serves: web processes, workers and migrations of an older one refuse to start.';
