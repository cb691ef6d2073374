-- An operator's order over HTTP: only who asked comes from there.

create or replace function runledger.steer_worker(
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
  select w.host into _host from audit.worker w where w.id = steer_worker.worker_id and w.alive;
  if not found then
    return;
  end if;
  begin
    _changed := runledger.order_worker(
      steer_worker.worker_id, steer_worker.wanted, steer_worker.type, steer_worker.schema_version,
      jsonb_build_object('host', _host), steer_worker.metadata
    );
  exception
    when sqlstate 'RL005' then
      return; -- it ended meanwhile
  end;
  return query
    select w.id, w.host, w.state, w.wanted, _changed from audit.worker w where w.id = steer_worker.worker_id;
end
$$;
comment on function runledger.steer_worker is 'order_worker for a worker that lives, and how it stands then. No row: none such lives.';
