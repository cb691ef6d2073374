-- The languages that workers offer, or have offered recently.

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
comment on function runledger.list_recent_language is 'Returns the languages that workers have run within the period, up to now, each with its version and the missing capabilities (lacks) of such a worker. offer: rows with the same number are offered by one worker; workers with equal offers share a number. is_offered_now: one of these workers has not stopped.';
