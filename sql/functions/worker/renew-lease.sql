-- The heartbeat.

drop function if exists runledger.renew_lease(uuid, text[]);

create or replace function runledger.renew_lease(
  worker_id uuid,
  queue_pool_ids text[],
  suspended boolean default false
) returns boolean
language sql security definer set search_path = ''
as $$
  update runledger.worker
  set renewed_at = now(),
    queue_pool_ids = renew_lease.queue_pool_ids,
    suspended_at = case when renew_lease.suspended then coalesce(worker.suspended_at, now()) end
  where worker.id = renew_lease.worker_id and worker.stopped_at is null
  returning true
$$;
comment on function runledger.renew_lease is 'Renews a worker''s lease and says whether it takes jobs; null when the worker was given up in the meantime.';
