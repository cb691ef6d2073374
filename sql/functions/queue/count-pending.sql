-- How many unfinished submissions an account has. Called by functions that run as the owner.

create or replace function runledger.count_pending(account_id uuid, most integer) returns integer
language sql stable
-- From the account's keys on, however few rows PostgreSQL thinks there are: it is asked when there are many.
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set jit = off
as $$
  select count(*)::integer
  from (
    select from runledger.api_key k
    join runledger.pending on pending.api_key_id = k.id
    where k.account_id = count_pending.account_id
    limit count_pending.most
  ) p
$$;
comment on function runledger.count_pending is 'The account''s unfinished submissions, counted up to `most`.';
