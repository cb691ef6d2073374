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
