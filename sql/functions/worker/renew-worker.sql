-- The heartbeat.

create or replace function runledger.renew_worker(
  worker_id uuid,
  queue_pool_ids text[],
  suspended_because text
) returns text
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  update runledger.worker
  set renewed_at = now(),
    queue_pool_ids = renew_worker.queue_pool_ids,
    suspended_at = case when renew_worker.suspended_because is not null then coalesce(worker.suspended_at, now()) end,
    suspended_because = left(renew_worker.suspended_because, 500)
  where worker.id = renew_worker.worker_id and worker.stopped_at is null
  returning worker.wanted
$$;
comment on function runledger.renew_worker is 'Renews a worker''s lease and says why it takes no jobs, null when it takes them. Returns what is wanted of it; null when it was given up in the meantime.';
