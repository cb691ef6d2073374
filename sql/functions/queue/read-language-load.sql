-- Which languages wait, and for whom, for metrics.

create or replace function runledger.read_language_load()
returns table (language text, waiting bigint, workers bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with waiting as (
    select p.language, count(*) as count
    from runledger.pending p
    where not p.is_running
    group by p.language
  ), working as (
    select offered.key as language, count(*) as count
    from runledger.worker w
    cross join lateral jsonb_each(w.languages) offered
    where w.stopped_at is null and w.suspended_at is null and w.wanted = 'working' and runledger.is_worker_alive(w.id)
      and not offered.value ? 'awaits_trial'
    group by offered.key
  )
  select language, coalesce(waiting.count, 0), coalesce(working.count, 0)
  from waiting
  full join working using (language)
$$;
comment on function runledger.read_language_load is 'One row a language that waits or is taken: submissions that do not run yet, and live workers that would take them.';
