-- A worker's own row and session lock. The caller keeps the session open for as long as the worker lives.

create or replace function runledger.register_worker(worker_id uuid, host text, pid integer, slots integer, languages jsonb) returns void
language plpgsql security definer set search_path = ''
as $$
declare
  _lock_key integer;
begin
  insert into runledger.worker as w (id, host, pid, slots, languages)
  values (register_worker.worker_id, register_worker.host, register_worker.pid, register_worker.slots, register_worker.languages)
  on conflict (id) do update set renewed_at = now(), lock_key = default
  returning w.lock_key into _lock_key;
  perform pg_advisory_lock(71830, _lock_key);
end
$$;
comment on function runledger.register_worker is 'Records a worker, or its return with a new session, and takes a new session lock.';
