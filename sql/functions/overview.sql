-- The overview for operators, and how submissions ended recently.

create or replace function runledger.read_overview() returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    with unfinished as materialized (
      select
        p.submission_id, p.api_key_id, p.admitted, p.is_low, p.account_id, p.language, p.is_running, p.worker_id, p.created_at
      from runledger.pending p
    ), by_key as materialized (
      select
        u.api_key_id, u.account_id, count(*) as unfinished, count(*) filter (where u.is_running) as running,
        count(*) filter (where u.admitted) as admitted
      from unfinished u group by u.api_key_id, u.account_id
    ), busiest as (
      select k.account_id, sum(k.running) as running, sum(k.unfinished) as unfinished
      from by_key k group by k.account_id
      order by sum(k.unfinished) desc, k.account_id limit 20
    )
    select jsonb_build_object(
      'at', now(),
      'oldest', (
        select jsonb_build_object(
          'id', u.submission_id, 'seconds', extract(epoch from now() - u.created_at), 'language', u.language,
          'account', account.name, 'priority', case when u.is_low then 'low' else 'normal' end
        )
        from unfinished u
        left join runledger.account on account.id = u.account_id
        where not u.is_running
        order by u.created_at, u.submission_id limit 1
      ),
      'load', (select to_jsonb(load) from runledger.read_load() load),
      'languages', (
        select coalesce(jsonb_agg(to_jsonb(one) order by one.waiting + one.running desc, one.language), '[]')
        from (
          select
            u.language,
            count(*) filter (where not u.is_running) as waiting,
            count(*) filter (where not u.is_running and u.is_low) as low,
            count(*) filter (where u.is_running) as running,
            coalesce(extract(epoch from now() - min(u.created_at) filter (where not u.is_running)), 0) as oldest_seconds
          from unfinished u group by u.language
        ) one
      ),
      'accounts', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', account.id, 'name', account.name, 'running', b.running, 'waiting', b.unfinished - b.running,
          'blob_bytes', account.blob_bytes,
          'keys', (
            select jsonb_agg(jsonb_build_object(
              'id', k.id, 'label', k.label, 'name', k.name, 'tier', k.tier, 'unfinished', mine.unfinished,
              'admitted', mine.admitted, 'concurrent_executions', tier.concurrent_executions,
              'requests', (
                select coalesce(sum(admitted.count), 0)
                from runledger.rate_window w, unnest(w.admitted_at, w.requests) admitted (at, count)
                where w.api_key_id = k.id and admitted.at > now() - interval '60 seconds'
              ),
              'requests_per_minute', tier.requests_per_minute, 'blob_bytes', tier.blob_bytes
            ) order by mine.unfinished desc, k.id)
            from (
              select * from by_key where by_key.account_id = b.account_id
              order by by_key.unfinished desc, by_key.api_key_id limit 10
            ) mine
            join runledger.api_key k on k.id = mine.api_key_id
            join runledger.tier on tier.name = k.tier
          )
        ) order by b.unfinished desc, account.id), '[]')
        from busiest b
        join runledger.account on account.id = b.account_id
      ),
      'workers', (
        select coalesce(jsonb_agg(to_jsonb(one) order by one.started_at, one.id), '[]')
        from (
          select
            w.id, w.host, w.pid, w.state, w.wanted, w.version, w.isolation ->> 'box' as box, w.isolation ->> 'cgroup' as cgroup,
            w.slots, coalesce(busy.count, 0) as busy, w.started_at,
            extract(epoch from clock_timestamp() - w.renewed_at) as heartbeat_seconds,
            w.suspended_at, w.suspended_because,
            (
              select coalesce(jsonb_agg(offered.key order by offered.key), '[]')
              from jsonb_each(w.languages) offered where not offered.value ? 'awaits_trial'
            ) as languages
          from audit.worker w
          left join (
            select u.worker_id, count(*) from unfinished u where u.is_running group by u.worker_id
          ) busy on busy.worker_id = w.id
          where w.stopped_at is null
          order by w.started_at limit 500
        ) one
      ),
      'recent', runledger.read_recent_ends(interval '5 minutes', 3000),
      'ledger', (
        select jsonb_build_object(
          'drift', c.drift, 'broken_chain', c.broken_chain, 'invariant', c.invariant, 'checked_at', c.checked_at,
          'walked_at', c.walked_at, 'walked_up_to', runledger.uuid_time(c.walked_up_to), 'suspects', to_jsonb(c.suspects[1:10])
        )
        from runledger.ledger_check c
      )
    )
  );
end
$$;
comment on function runledger.read_overview is 'Returns the oldest waiting submission, the load (as in read_load), languages, the twenty accounts with the most unfinished submissions and the ten busiest keys of each (null is unlimited), workers that have not ended, how recent submissions ended, and the last findings of the reconciler in the ledger. The cost grows with the unfinished submissions, not with the history.';

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
