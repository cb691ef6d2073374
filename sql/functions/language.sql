-- Which languages workers offer, and have offered of late.

create or replace function runledger.list_recent_language(period interval)
returns table (name text, version text, lacks jsonb, offer bigint, is_offered_now boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select
    language.key, coalesce(language.value ->> 'version', ''), coalesce(language.value -> 'lacks', '[]'),
    offered.offer, offered.is_offered_now
  from (
    select
      worker.languages, row_number() over (order by worker.languages) as offer,
      bool_or(worker.stopped_at is null) as is_offered_now
    from runledger.worker
    where worker.stopped_at is null or worker.stopped_at > now() - list_recent_language.period
    group by worker.languages
  ) offered
  cross join lateral jsonb_each(offered.languages) language
$$;
comment on function runledger.list_recent_language is 'The languages that a worker has run within the period, up to now, each with its version and what such a worker cannot do of what submissions demand. offer: languages of one number are offered by one worker; workers that offer the same have the same number. is_offered_now: one of them has not stopped.';
