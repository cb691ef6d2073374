-- Called only by workers of earlier releases, while a new one goes out.

drop function if exists runledger.renew_lease(uuid, text[]);

create or replace function runledger.renew_lease(
  worker_id uuid,
  queue_pool_ids text[],
  suspended boolean default false
) returns boolean
language plpgsql security definer set search_path = ''
as $$
begin
  return nullif(runledger.renew_worker(
    renew_lease.worker_id, renew_lease.queue_pool_ids, case when renew_lease.suspended then 'its sandbox failed' end
  ) is not null, false);
end
$$;
comment on function runledger.renew_lease is 'renew_worker for a worker that tells no reason; true, or null when the worker was given up in the meantime.';
