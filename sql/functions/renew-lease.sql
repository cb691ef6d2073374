-- The heartbeat.

create or replace function runledger.renew_lease(worker_id uuid, queue_pool_ids text[]) returns boolean
language sql security definer set search_path = ''
as $$
  update runledger.worker
  set renewed_at = now(), queue_pool_ids = renew_lease.queue_pool_ids
  where worker.id = renew_lease.worker_id and worker.stopped_at is null
  returning true
$$;
comment on function runledger.renew_lease is 'Renews a worker''s lease; null when the worker was given up in the meantime.';
