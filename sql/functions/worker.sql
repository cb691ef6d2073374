-- Workers: registration, lease, commands, stop.

-- The caller keeps the session open, and so holds the lock, while the worker lives.

create or replace function runledger.register_worker(
  worker_id uuid, host text, pid integer, slots integer, languages jsonb, lease_seconds double precision,
  description jsonb default '{}'
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _lock_key integer;
  _wanted text;
begin
  -- A worker that was declared lost keeps its commands under its new id; their events stay in the stream of the old id.
  select w.wanted into _wanted from runledger.worker w
  where w.id = (register_worker.description ->> 'succeeds')::uuid;
  insert into runledger.worker as w (id, host, pid, slots, languages, lease_seconds, version, isolation, wanted)
  values (
    register_worker.worker_id, register_worker.host, register_worker.pid, register_worker.slots,
    register_worker.languages, register_worker.lease_seconds,
    register_worker.description ->> 'version', register_worker.description -> 'isolation',
    coalesce(_wanted, 'working')
  )
  -- Each session gets a new lock, because PostgreSQL may not have noticed yet that the session with the old lock has ended.
  on conflict (id) do update set lock_key = default, renewed_at = now(), languages = excluded.languages
    where w.stopped_at is null
  returning w.lock_key into _lock_key;
  if _lock_key is not null then
    perform pg_advisory_lock(71830, _lock_key);
  end if;
end
$$;
comment on function runledger.register_worker is 'Records a new worker, its return with a new session, or a change of its languages, and takes the session lock. Does nothing for a worker that was declared lost. description: version (of Runledger) and isolation, as in execution.started; succeeds: the id under which this process was declared lost, whose commands still apply.';

create or replace function runledger.renew_worker(worker_id uuid, queue_pool_ids text[], suspended_because text) returns text
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
comment on function runledger.renew_worker is 'Renews a worker''s lease and records why it takes no jobs (null: it takes them). Returns what operators want of it; null when it was declared lost in the meantime.';

create or replace function runledger.stop_worker(worker_id uuid) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  update runledger.worker set stopped_at = now() where worker.id = stop_worker.worker_id and worker.stopped_at is null
$$;
comment on function runledger.stop_worker is 'Records that a worker stopped by itself.';

-- A command of an operator, or of a signal to the worker's process, is stored in the worker's row and as an event. A worker
-- that drains or restarts accepts no other command.

create or replace function runledger.command_worker(
  worker_id uuid, wanted text, schema_version integer, metadata jsonb
) returns table (id uuid, host text, state text, wanted_now text, changed boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  _host text;
  _changed boolean;
begin
  update runledger.worker w
  set wanted = command_worker.wanted
  where w.id = command_worker.worker_id and w.stopped_at is null and runledger.is_worker_alive(w.id)
    and w.wanted not in ('drained', 'restarted', command_worker.wanted)
  returning w.host into _host;
  _changed := found;
  if _changed then
    perform runledger.append_event(
      command_worker.worker_id, null, 'worker.' || case command_worker.wanted when 'working' then 'resumed' else command_worker.wanted end,
      command_worker.schema_version, jsonb_build_object('host', _host), command_worker.metadata
    );
  end if;
  return query
    select w.id, w.host, w.state, w.wanted, _changed from audit.worker w
    where w.id = command_worker.worker_id and w.alive;
end
$$;
comment on function runledger.command_worker is 'Writes a command into a worker''s row and appends its event: worker.paused, worker.resumed, worker.drained or worker.restarted. Returns the worker''s new state. changed is false, and there is no event, when the command was in effect already, or the worker drains or restarts. No row: there is no such live worker.';
