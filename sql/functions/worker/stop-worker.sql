-- A worker's orderly end, so that nobody looks for it.

create or replace function runledger.stop_worker(worker_id uuid) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  update runledger.worker set stopped_at = now() where worker.id = stop_worker.worker_id
$$;
comment on function runledger.stop_worker is 'Records that a worker stopped by itself.';
