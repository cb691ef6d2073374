-- Accepts several submissions of one request: all of them or none, in one transaction and one round trip.

drop function if exists runledger.receive_batch(uuid, jsonb, text, integer, jsonb, integer, uuid, bytea);

create or replace function runledger.receive_batch(
  api_key_id uuid,
  items jsonb,
  answer text,
  schema_version integer,
  metadata jsonb,
  capacity integer,
  idempotency_key uuid,
  request_digest bytea,
  wakes boolean default true
) returns table (given_answer text, replayed boolean, matches boolean)
language plpgsql security definer set search_path = ''
as $$
declare
  _account_id uuid;
  _earlier record;
  _item jsonb;
begin
  select k.account_id into strict _account_id
  from runledger.api_key k
  where k.id = receive_batch.api_key_id;

  if receive_batch.idempotency_key is not null then
    insert into runledger.idempotency as i (account_id, key, submission_id, request_digest, batch_answer)
    values (
      _account_id, receive_batch.idempotency_key, (receive_batch.items #>> '{0,id}')::uuid,
      receive_batch.request_digest, receive_batch.answer
    )
    on conflict on constraint idempotency_pkey do update
      set submission_id = excluded.submission_id, request_digest = excluded.request_digest,
        batch_answer = excluded.batch_answer, created_at = now()
      where i.created_at <= now() - interval '24 hours';
    if not found then
      select i.submission_id, i.request_digest, i.batch_answer into strict _earlier
      from runledger.idempotency i
      where i.account_id = _account_id and i.key = receive_batch.idempotency_key;
      return query select
        coalesce(_earlier.batch_answer, jsonb_build_array(jsonb_build_object('id', _earlier.submission_id))::text),
        true,
        _earlier.request_digest = receive_batch.request_digest;
      return;
    end if;
  end if;

  if not runledger.has_room(jsonb_array_length(receive_batch.items), receive_batch.capacity) then
    raise exception 'the queue is full' using errcode = 'RL003';
  end if;

  for _item in select element from jsonb_array_elements(receive_batch.items) with ordinality e (element, n) order by n loop
    perform runledger.receive_submission(
      (_item ->> 'id')::uuid,
      receive_batch.api_key_id,
      decode(_item ->> 'code', 'base64'),
      decode(_item ->> 'stdin', 'base64'),
      decode(_item ->> 'expected_stdout', 'base64'),
      (_item ->> 'webhook_id')::uuid,
      _item ->> 'webhook_url',
      _item ->> 'webhook_secret',
      receive_batch.schema_version,
      _item -> 'data',
      receive_batch.metadata,
      false,
      null, -- there is room for all of them
      null,
      null,
      false
    );
  end loop;
  if receive_batch.wakes then
    perform job.wake_workers(jsonb_array_length(receive_batch.items));
  end if;

  return query select receive_batch.answer, false, true;
end
$$;
comment on function runledger.receive_batch is 'Receives every item (id, bodies in base64, webhook, event data) as receive_submission does, or finds the answer that the idempotency key stands for. wakes: false, the caller wakes the workers. RL003: they do not all fit into the queue, nothing was written.';
