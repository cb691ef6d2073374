-- The queue and the workers now, for metrics.

create or replace function runledger.read_load()
returns table (
  waiting bigint,
  queued bigint,
  running bigint,
  oldest_waiting_seconds double precision,
  workers bigint,
  slots bigint,
  deliveries_pending bigint,
  suspended_workers bigint,
  paused_workers bigint,
  oldest_queued_seconds double precision
)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select
    count(*) filter (where not p.admitted),
    count(*) filter (where p.admitted and not p.is_running),
    count(*) filter (where p.is_running),
    coalesce(extract(epoch from now() - min(p.created_at) filter (where not p.is_running)), 0)::double precision,
    (select count(*) from runledger.worker w where w.stopped_at is null and runledger.is_worker_alive(w.id)),
    (select coalesce(sum(w.slots), 0) from runledger.worker w
      where w.stopped_at is null and w.suspended_at is null and w.wanted = 'working'
        and runledger.is_worker_alive(w.id)),
    (select count(*) from runledger.delivery d where d.state = 'pending'),
    (select count(*) from runledger.worker w
      where w.stopped_at is null and w.suspended_at is not null and runledger.is_worker_alive(w.id)),
    (select count(*) from runledger.worker w
      where w.stopped_at is null and w.wanted <> 'working' and runledger.is_worker_alive(w.id)),
    -- The job's own time, as run_at is mostly a position: a submission may have waited long for a place of its key before it had one.
    (select coalesce(extract(epoch from now() - min(greatest(j.created_at, j.run_at))), 0)
      from graphile_worker.jobs j
      where j.locked_at is null and j.attempts < j.max_attempts and j.run_at <= now()
        and j.task_identifier like 'execute:%')::double precision
  from runledger.pending p
$$;
comment on function runledger.read_load is 'Unfinished submissions (waiting for a place of their key''s, queued, running), age of the oldest that does not run, live workers and the slots of those that take submissions, webhooks not delivered yet, live workers that take none because their sandbox failed, those that take none because an operator wants it so, and for how long the oldest job that a worker could take has waited for one.';
