-- Figures of the queue, the workers and the events, for metrics and for the answer when the queue is full.

create or replace function runledger.read_load()
returns table (
  waiting bigint, queued bigint, running bigint, oldest_waiting_seconds double precision, workers bigint, slots bigint,
  deliveries_pending bigint, suspended_workers bigint, paused_workers bigint, oldest_queued_seconds double precision
)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select
    unfinished.waiting, unfinished.queued, unfinished.running, unfinished.oldest_waiting_seconds,
    alive.workers, alive.slots,
    (select count(*) from runledger.delivery d where d.state = 'pending'),
    alive.suspended, alive.paused,
    -- The job's creation counts, because run_at is mostly a position and the submission may have waited long to be admitted.
    (select coalesce(extract(epoch from now() - min(greatest(j.created_at, j.run_at))), 0)
      from graphile_worker.jobs j
      where j.locked_at is null and j.attempts < j.max_attempts and j.run_at <= now()
        and j.task_identifier like 'execute:%')::double precision
  from (
    select
      count(*) filter (where not p.admitted) as waiting,
      count(*) filter (where p.admitted and not p.is_running) as queued,
      count(*) filter (where p.is_running) as running,
      coalesce(extract(epoch from now() - min(p.created_at) filter (where not p.is_running)), 0)::double precision
        as oldest_waiting_seconds
    from runledger.pending p
  ) unfinished
  cross join (
    select
      count(*) as workers,
      coalesce(sum(w.slots) filter (where w.suspended_at is null and w.wanted = 'working'), 0) as slots,
      count(*) filter (where w.suspended_at is not null) as suspended,
      count(*) filter (where w.wanted <> 'working') as paused
    from runledger.worker w
    where w.stopped_at is null and runledger.is_worker_alive(w.id)
  ) alive
$$;
comment on function runledger.read_load is 'Returns unfinished submissions (waiting to be admitted by their key''s limit, queued, running), the age of the oldest that does not run, live workers, the slots of those that take submissions, webhooks not delivered yet, live workers that take none because their sandbox failed, live workers that take none because of an operator''s command, and how long the oldest job that a worker could take has waited.';

-- For metrics: because accounts share the slots, one class of submissions may wait while another does not.

create or replace function runledger.read_class_load()
returns table (tier text, language text, priority text, waiting bigint, oldest_seconds double precision)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select
    k.tier, p.language, case when p.is_low then 'low' else 'normal' end, count(*),
    extract(epoch from now() - min(p.created_at))::double precision
  from runledger.pending p
  join runledger.api_key k on k.id = p.api_key_id
  where not p.is_running
  group by 1, 2, 3
  -- Operators may create any number of tiers, so the rows of a scrape are bounded here.
  order by count(*) desc limit 200
$$;
comment on function runledger.read_class_load is 'One row for each tier, language and priority with waiting submissions, at most the 200 with the most: how many do not run yet, and the age of the oldest.';

create or replace function runledger.estimate_drain() returns double precision
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- When no worker takes submissions, earlier ends predict nothing.
  if (
    select bool_and(w.wanted <> 'working') from runledger.worker w
    where w.stopped_at is null and runledger.is_worker_alive(w.id)
  ) then
    return 0;
  end if;

  -- Measured from the first of the newest ends to now, so that the rate is right from the second end after a quiet hour, and
  -- falls when no submission ends. Read by index, which takes milliseconds however long the log is.
  return (
    select coalesce((count(*) - 1) / nullif(extract(epoch from now() - min(ended.recorded_at)), 0), 0)
    from (
      select recent.recorded_at
      from (
        select e.position, e.type, e.recorded_at from runledger.event e
        order by e.position desc limit 10000
      ) recent
      where runledger.closes_submission(recent.type)
        and recent.recorded_at > now() - interval '60 seconds'
      order by recent.position desc limit 10
    ) ended
  );
end
$$;
comment on function runledger.estimate_drain is 'Returns how many submissions ended per second, by the last ten ends within 60 seconds and the newest 10,000 events. 0 with fewer than two ends, and while every live worker is paused or drains.';

-- Positions are not in commit order, so the cursor reads only transactions that have ended.

create or replace function runledger.read_progress(since xid8, since_position bigint)
returns table (
  until xid8, begun xid8, newest_position bigint, type text, language text, verdict text, reason text, outcome text,
  attempt_seconds double precision, queue_seconds double precision, compile_seconds double precision,
  run_seconds double precision, total_seconds double precision, blobs_read integer, blobs_fetched integer
)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with horizon as (
    select
      pg_snapshot_xmin(pg_current_snapshot()) as until,
      pg_snapshot_xmax(pg_current_snapshot()) as begun,
      coalesce((select max(e.position) from runledger.event e), 0) as newest_position
  ),
  recent as (
    select e.*
    from runledger.event e, horizon
    where e.position > read_progress.since_position
      and e.transaction_id >= read_progress.since
      and e.transaction_id < horizon.until
      and (e.type like 'execution.%' or e.type like 'webhook.%' or e.type = 'submission.cancelled')
      and e.type <> 'execution.started'
  )
  select
    horizon.until,
    horizon.begun,
    horizon.newest_position,
    recent.type,
    received.data ->> 'language',
    case recent.type
      -- IE of a completed execution is a failure of its own checker, not of the service.
      when 'execution.completed' then case recent.data ->> 'verdict' when 'IE' then 'checker_failed' else recent.data ->> 'verdict' end
      when 'execution.abandoned' then 'IE'
      when 'submission.cancelled' then 'cancelled' -- not a verdict, but counted as one
    end,
    recent.data ->> 'reason',
    recent.data ->> 'outcome',
    (recent.data ->> 'duration_seconds')::double precision,
    extract(epoch from started.recorded_at - received.recorded_at)::double precision,
    (timed.data #>> '{compile,wall_time}')::double precision,
    (timed.data #>> '{run,wall_time}')::double precision,
    extract(epoch from timed.recorded_at - received.recorded_at)::double precision,
    (recent.data #>> '{blobs,read}')::integer,
    (recent.data #>> '{blobs,fetched}')::integer
  from horizon
  left join recent on true
  -- The duration of a cancelled submission depends on its caller, so it is left out.
  left join lateral (
    select recent.data, recent.recorded_at where recent.type <> 'submission.cancelled'
  ) timed on true
  left join runledger.event received
    on received.stream_id = recent.stream_id and received.stream_version = 1 and received.type = 'submission.received'
  left join runledger.event started
    on recent.type = 'execution.completed'
    and started.stream_id = recent.stream_id and started.stream_version = recent.stream_version - 1
$$;
comment on function runledger.read_progress is 'Returns events of ended attempts, cancelled submissions and webhooks, from transactions since `since` and before `until`; at least one row, whose type is null when there are none. In the next call pass `until` as since, and as since_position the newest_position of an earlier call whose `begun` is at most that `until`.';
