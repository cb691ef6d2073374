-- How submissions ended recently.

create or replace function runledger.read_recent_ends(period interval, events integer) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    with newest as materialized (
      select e.stream_id, e.type, e.recorded_at
      from runledger.event e
      order by e.position desc limit read_recent_ends.events
    ), looked as (
      -- In a busy service, the events do not reach back over the whole period.
      select case when count(*) < read_recent_ends.events then read_recent_ends.period
        else least(read_recent_ends.period, now() - min(newest.recorded_at)) end as period
      from newest
    ), ends as materialized (
      select
        r.language,
        case r.status when 'cancelled' then 'cancelled' when 'failed' then 'IE' else coalesce(r.verdict, 'unknown') end as verdict,
        case when r.status = 'completed' then extract(epoch from r.started_at - r.created_at) end as waited,
        case when r.status = 'completed' then r.wall_time end as ran,
        case when r.status = 'completed' then extract(epoch from r.finished_at - r.created_at) end as took
      from newest
      join runledger.result r on r.id = newest.stream_id
      where runledger.closes_submission(newest.type) and newest.recorded_at > now() - read_recent_ends.period
    )
    select jsonb_build_object(
      'seconds', extract(epoch from looked.period),
      'received', (
        select count(*) from newest
        where newest.type = 'submission.received' and newest.recorded_at > now() - read_recent_ends.period
      ),
      'ended', (select count(*) from ends),
      'waited', (select runledger.summarise(array_agg(ends.waited)) from ends),
      'ran', (select runledger.summarise(array_agg(ends.ran)) from ends),
      'took', (select runledger.summarise(array_agg(ends.took)) from ends),
      'verdicts', (
        select coalesce(jsonb_object_agg(one.verdict, one.count), '{}')
        from (select ends.verdict, count(*) from ends group by ends.verdict) one
      ),
      'languages', (
        select coalesce(jsonb_object_agg(one.language, one.count), '{}')
        from (select ends.language, count(*) from ends group by ends.language) one
      )
    )
    from looked
  );
end
$$;
comment on function runledger.read_recent_ends is 'Returns the submissions received and ended within the period, as far as so many of the newest events reach; seconds is the time that they cover. waited, ran and took (receipt to end) cover completed submissions.';

create or replace function runledger.summarise(figures double precision[]) returns jsonb
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select case when count(figure) = 0 then null else jsonb_build_object(
    'p50', (percentile_disc(array[0.5, 0.95, 0.99]) within group (order by figure))[1],
    'p95', (percentile_disc(array[0.5, 0.95, 0.99]) within group (order by figure))[2],
    'p99', (percentile_disc(array[0.5, 0.95, 0.99]) within group (order by figure))[3]
  ) end
  from unnest(summarise.figures) figure
$$;
comment on function runledger.summarise is 'Returns the median, the 95th and the 99th percentile of these figures, each of which is one of the figures; null without any.';
