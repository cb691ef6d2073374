-- What an account has under way, without its history.

create or replace function runledger.list_unfinished(account_id uuid) returns setof uuid
language sql stable security definer set search_path = pg_catalog, pg_temp
-- Reckoned with a thousand, all that there is of results would be read instead.
rows 100
as $$
  select p.submission_id from runledger.pending p where p.account_id = list_unfinished.account_id
$$;
comment on function runledger.list_unfinished is 'The submissions of an account that have not ended.';
