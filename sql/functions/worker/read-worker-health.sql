-- For a worker's health check.

create or replace function runledger.read_worker_health(host text, pids integer[])
returns table (pid integer, suspended boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.pid, worker.suspended_at is not null
  from runledger.worker
  where worker.host = read_worker_health.host
    and worker.pid = any (read_worker_health.pids)
    and worker.stopped_at is null
    and runledger.is_worker_alive(worker.id)
$$;
comment on function runledger.read_worker_health is 'One row for each of these processes that is a live worker, and whether its sandbox has failed.';
