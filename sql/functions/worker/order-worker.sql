-- Each order is an event. A worker that is to end, or to begin again, takes no other.

create or replace function runledger.order_worker(
  worker_id uuid,
  wanted text,
  type text,
  schema_version integer,
  data jsonb,
  metadata jsonb
) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update runledger.worker w
  set wanted = order_worker.wanted
  where w.id = order_worker.worker_id and w.stopped_at is null and w.wanted not in ('drained', 'restarted', order_worker.wanted);
  if not found then
    if not exists (select from runledger.worker w where w.id = order_worker.worker_id and w.stopped_at is null) then
      raise exception 'worker % has ended or was given up', order_worker.worker_id using errcode = 'RL005';
    end if;
    return false;
  end if;
  perform runledger.append_event(
    order_worker.worker_id,
    (
      select coalesce(max(event.stream_version), 0) + 1 from runledger.event
      where event.stream_id = order_worker.worker_id
    ),
    order_worker.type, order_worker.schema_version, order_worker.data, order_worker.metadata
  );
  return true;
end
$$;
comment on function runledger.order_worker is 'Writes into a worker''s row what is wanted of it, and appends the event: worker.paused, worker.resumed, worker.drained or worker.restarted. False, and no event, when that is so already, and when it drains or restarts. RL005: it has ended, or was given up and goes on under another id.';
