-- Which languages workers offer, now and of late.

-- A checker that is a program runs where the program ran that it judges.

create or replace function runledger.is_offered(language text, checker_language text, offers jsonb[]) returns boolean
language sql immutable
as $$
  select offers is null or exists (
    select from unnest(offers) offer (names)
    where offer.names @> to_jsonb(array_remove(array[language, checker_language], null))
  )
$$;
comment on function runledger.is_offered is 'Whether one worker has both languages; checker_language: null without a checker that is a program. offers: as runledger.list_recent_offers tells them; null: any language is taken.';

-- The languages that live workers report.

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

create or replace function runledger.list_recent_offers(period interval) returns jsonb[]
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select array_agg(offered.names)
  from (
    select jsonb_agg(language.name) as names
    from runledger.list_recent_language(list_recent_offers.period) language
    group by language.offer
  ) offered
$$;
comment on function runledger.list_recent_offers is 'The languages that one worker offers, or has within the period: a list for each that differs; null before the first worker.';
