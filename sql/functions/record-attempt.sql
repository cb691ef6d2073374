-- One attempt to deliver a webhook: its event, and what follows from it, in one transaction.

create or replace function runledger.record_attempt(
  webhook_id uuid,
  attempt integer,
  type text,
  schema_version integer,
  data jsonb,
  metadata jsonb,
  next_attempt_at timestamptz,
  abandoned_because text
) returns void
language plpgsql security definer set search_path = ''
as $$
begin
  perform runledger.append_event(
    record_attempt.webhook_id, record_attempt.attempt, record_attempt.type,
    record_attempt.schema_version, record_attempt.data, record_attempt.metadata
  );
  if record_attempt.abandoned_because is not null then
    perform runledger.append_event(
      record_attempt.webhook_id, record_attempt.attempt + 1, 'webhook.abandoned', record_attempt.schema_version,
      jsonb_build_object('attempts', record_attempt.attempt, 'reason', record_attempt.abandoned_because),
      record_attempt.metadata
    );
  end if;

  update runledger.delivery
  set attempts = record_attempt.attempt,
    state = case
      when record_attempt.type = 'webhook.delivered' then 'delivered'
      when record_attempt.abandoned_because is not null then 'abandoned'
      else 'pending'
    end,
    secret = case when record_attempt.next_attempt_at is not null then delivery.secret end,
    due_at = record_attempt.next_attempt_at
  where delivery.webhook_id = record_attempt.webhook_id;

  if record_attempt.next_attempt_at is not null then
    perform job.enqueue_deliver(record_attempt.webhook_id, record_attempt.next_attempt_at);
  end if;
end
$$;
comment on function runledger.record_attempt is 'Appends webhook.delivered or webhook.attempt_failed (and webhook.abandoned after the last), enqueues the next attempt, removes the secret at the end. 23505: this attempt was recorded before.';
