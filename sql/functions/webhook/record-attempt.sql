-- Records an attempt to deliver a webhook, and what follows, in one transaction.

create or replace function runledger.record_attempt(
  webhook_id uuid,
  version integer,
  type text,
  schema_version integer,
  data jsonb,
  metadata jsonb,
  retry_seconds double precision,
  abandoned_because text
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- By this server's clock, which also decides when it is due.
  _next_attempt_at timestamptz := clock_timestamp() + make_interval(secs => record_attempt.retry_seconds);
  _data jsonb := record_attempt.data;
begin
  if record_attempt.type = 'webhook.attempt_failed' then
    if (_next_attempt_at is null) = (record_attempt.abandoned_because is null) then
      raise exception 'a failed attempt is followed either by another or by abandonment' using errcode = 'RL004';
    end if;
    _data := _data || jsonb_build_object(
      'next_attempt_at', to_char(_next_attempt_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    );
  end if;
  perform runledger.append_event(
    record_attempt.webhook_id, record_attempt.version + 1, record_attempt.type,
    record_attempt.schema_version, _data, record_attempt.metadata
  );
  if record_attempt.abandoned_because is not null then
    perform runledger.append_event(
      record_attempt.webhook_id, record_attempt.version + 2, 'webhook.abandoned', record_attempt.schema_version,
      jsonb_build_object('attempts', _data -> 'attempt', 'reason', record_attempt.abandoned_because),
      record_attempt.metadata
    );
  end if;

  update runledger.delivery
  set attempts = (_data ->> 'attempt')::integer,
    state = case
      when record_attempt.type = 'webhook.delivered' then 'delivered'
      when record_attempt.abandoned_because is not null then 'abandoned'
      else 'pending'
    end,
    secret = case when _next_attempt_at is not null then delivery.secret end,
    due_at = _next_attempt_at
  where delivery.webhook_id = record_attempt.webhook_id;

  if _next_attempt_at is not null then
    perform job.enqueue_deliver(record_attempt.webhook_id, _next_attempt_at);
  end if;
end
$$;
comment on function runledger.record_attempt is 'Appends webhook.delivered or webhook.attempt_failed (and webhook.abandoned after the last) after the given version, enqueues the next attempt in retry_seconds, removes the secret at the end. 23505: something else was recorded in the meantime, this attempt counts for nothing.';
