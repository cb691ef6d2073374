-- Which languages workers offer, now and of late.

create or replace function runledger.list_language()
returns table (name text, version text, compile jsonb, run jsonb, limits jsonb, workers bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  -- Two versions may run during a release: the newest worker speaks for its language.
  select distinct on (language.key)
    language.key,
    language.value ->> 'version',
    nullif(language.value -> 'compile', 'null'),
    language.value -> 'run',
    language.value -> 'limits',
    count(*) over (partition by language.key)
  from runledger.worker
  cross join lateral jsonb_each(worker.languages) language
  where worker.stopped_at is null and runledger.is_worker_alive(worker.id)
    and not language.value ? 'awaits_trial'
  order by language.key, worker.started_at desc
$$;
comment on function runledger.list_language is 'One row a language that a live worker runs: exact version, command lines, limits, and how many workers run it.';

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

