-- An attempt not made, as its receiver is busy or the worker stops, costs nothing.

create or replace function runledger.postpone_delivery(webhook_id uuid, version integer, seconds double precision) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _due_at timestamptz := clock_timestamp() + make_interval(secs => postpone_delivery.seconds);
begin
  -- If a crash forgets it, the job comes again.
  perform set_config('synchronous_commit', 'off', true);
  update runledger.delivery set due_at = _due_at
  where delivery.webhook_id = postpone_delivery.webhook_id
    and delivery.state = 'pending'
    -- A worker wrongly taken for dead must not hasten another's next attempt.
    and not exists (
      select from runledger.event e
      where e.stream_id = postpone_delivery.webhook_id and e.stream_version > postpone_delivery.version
    );
  if found then
    perform job.enqueue_deliver(postpone_delivery.webhook_id, _due_at);
  end if;
end
$$;
comment on function runledger.postpone_delivery is 'Makes a pending delivery due in so many seconds, without an attempt; nothing happens when its stream has moved on from the given version.';
