-- The caller keeps the session, and so its lock, while the worker lives.

create or replace function runledger.register_worker(
  worker_id uuid,
  host text,
  pid integer,
  slots integer,
  languages jsonb,
  lease_seconds double precision,
  description jsonb default '{}'
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _lock_key integer;
  _wanted text;
begin
  -- Under its new id a worker that was given up keeps its orders; their events stay under the old id.
  select w.wanted into _wanted from runledger.worker w
  where w.id = (register_worker.description ->> 'succeeds')::uuid;
  insert into runledger.worker as w (id, host, pid, slots, languages, lease_seconds, version, isolation, wanted)
  values (
    register_worker.worker_id, register_worker.host, register_worker.pid, register_worker.slots,
    register_worker.languages, register_worker.lease_seconds,
    register_worker.description ->> 'version', register_worker.description -> 'isolation',
    coalesce(_wanted, 'working')
  )
  -- A new lock with each session: the old one may be held by a session whose end the server has not noticed yet.
  on conflict (id) do update set lock_key = default, renewed_at = now(), languages = excluded.languages
    where w.stopped_at is null
  returning w.lock_key into _lock_key;
  if _lock_key is not null then
    perform pg_advisory_lock(71830, _lock_key);
  end if;
end
$$;
comment on function runledger.register_worker is 'Records a worker, its return with a new session, or that it runs other languages, and takes a session lock. Does nothing for a worker that was given up. description: version (of Runledger) and isolation, as in execution.started; succeeds: the id under which this process was given up, whose orders hold.';
