-- What a submission may still be in although no worker runs it at the moment: one that went away may come back.

create or replace function runledger.list_recent_language(period interval)
returns table (name text, lacks jsonb, offer bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select language.key, coalesce(language.value -> 'lacks', '[]'), offered.offer
  from (
    select distinct worker.languages, dense_rank() over (order by worker.languages) as offer
    from runledger.worker
    where worker.stopped_at is null or worker.stopped_at > now() - list_recent_language.period
  ) offered
  cross join lateral jsonb_each(offered.languages) language
$$;
comment on function runledger.list_recent_language is 'The languages that a worker has run within the period, up to now, each with what such a worker cannot do of what submissions demand. offer: languages of one number are offered by one worker; workers that offer the same have the same number.';
