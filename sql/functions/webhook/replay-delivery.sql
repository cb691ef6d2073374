-- Sends an ended delivery again, for an operator, who must give the deleted secret again.

create or replace function runledger.replay_delivery(
  webhook_id uuid,
  secret text,
  schema_version integer,
  metadata jsonb
) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _delivery record;
begin
  select d.submission_id, d.state, d.url into _delivery
  from runledger.delivery d
  where d.webhook_id = replay_delivery.webhook_id
  for update;
  if not found or _delivery.state not in ('delivered', 'abandoned') then
    return _delivery.state;
  end if;
  if _delivery.url is null then
    return 'purged';
  end if;

  perform runledger.append_event(
    replay_delivery.webhook_id,
    (select max(event.stream_version) + 1 from runledger.event where event.stream_id = replay_delivery.webhook_id),
    'webhook.replayed', replay_delivery.schema_version,
    jsonb_build_object('submission', _delivery.submission_id), replay_delivery.metadata
  );
  update runledger.delivery d
  set state = 'pending', secret = replay_delivery.secret, due_at = clock_timestamp()
  where d.webhook_id = replay_delivery.webhook_id;
  perform job.enqueue_deliver(replay_delivery.webhook_id, clock_timestamp());
  return _delivery.state;
end
$$;
comment on function runledger.replay_delivery is 'Appends webhook.replayed and makes a delivered or abandoned webhook due now, under the same id, with its schedule from the start. Returns the state that was found; in any other than delivered or abandoned nothing was done; purged: retention removed its address; null: no such webhook.';
