-- An attempt that was not made, because its receiver has enough under way or the worker stops: it comes back later, and
-- costs nothing.

create or replace function runledger.postpone_delivery(webhook_id uuid, version integer, seconds double precision) returns void
language plpgsql security definer set search_path = ''
as $$
declare
  _due_at timestamptz := clock_timestamp() + make_interval(secs => postpone_delivery.seconds);
begin
  -- One that a crash of the server forgets is asked for again: no need to wait for the disk.
  perform set_config('synchronous_commit', 'off', true);
  update runledger.delivery set due_at = _due_at
  where delivery.webhook_id = postpone_delivery.webhook_id
    and delivery.state = 'pending'
    -- Whoever was taken for dead and wakes up must not make another's next attempt come early.
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
