-- What a worker asks when it may have missed a word.

create or replace function runledger.find_watched() returns setof uuid
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select distinct w.submission_id from runledger.watch w where w.expires_at > now()
$$;
comment on function runledger.find_watched is 'The submissions whose output somebody wants told while it is written.';
