-- What operators, or a signal to its process, want of a worker: it stands in the worker's row and is an event. A worker that is
-- to end, or to begin again, takes no other command.

create or replace function runledger.command_worker(
  worker_id uuid,
  wanted text,
  type text,
  schema_version integer,
  metadata jsonb
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
      command_worker.worker_id,
      (
        select coalesce(max(event.stream_version), 0) + 1 from runledger.event
        where event.stream_id = command_worker.worker_id
      ),
      command_worker.type, command_worker.schema_version, jsonb_build_object('host', _host), command_worker.metadata
    );
  end if;
  return query
    select w.id, w.host, w.state, w.wanted, _changed from audit.worker w
    where w.id = command_worker.worker_id and w.alive;
end
$$;
comment on function runledger.command_worker is 'Writes into a worker''s row what is wanted of it, and appends the event: worker.paused, worker.resumed, worker.drained or worker.restarted. Returns how it stands then; changed: false, and no event, when that is so already, and when it drains or restarts. No row: no such worker lives.';
