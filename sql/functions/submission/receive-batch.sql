-- Accepts several submissions in one transaction and round trip: all or none. Where their key counts what it has admitted, one
-- after another.

create or replace function runledger.receive_batch(
  batch jsonb,
  answer text
) returns table (given_answer text, replayed boolean, matches boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  _batch record;
  _earlier record;
  _item jsonb;
begin
  select given.*, k.account_id, tier.weight, tier.concurrent_executions
  into strict _batch
  from jsonb_to_record(receive_batch.batch) given (
    api_key_id uuid,
    items jsonb,
    capacity integer,
    idempotency_key uuid,
    request_digest bytea
  )
  join runledger.api_key k on k.id = given.api_key_id
  join runledger.tier on tier.name = k.tier;

  if _batch.idempotency_key is not null then
    insert into runledger.idempotency as i (account_id, key, submission_id, request_digest, batch_answer)
    values (
      _batch.account_id, _batch.idempotency_key, (_batch.items #>> '{0,request,submission_id}')::uuid,
      _batch.request_digest, receive_batch.answer
    )
    on conflict on constraint idempotency_pkey do update
      set submission_id = excluded.submission_id, request_digest = excluded.request_digest,
        batch_answer = excluded.batch_answer, created_at = now()
      where i.created_at <= now() - interval '24 hours';
    if not found then
      select i.submission_id, i.request_digest, i.batch_answer into strict _earlier
      from runledger.idempotency i
      where i.account_id = _batch.account_id and i.key = _batch.idempotency_key;
      return query select
        coalesce(_earlier.batch_answer, jsonb_build_array(jsonb_build_object('id', _earlier.submission_id))::text),
        true,
        _earlier.request_digest = _batch.request_digest;
      return;
    end if;
  end if;

  if not runledger.has_room(jsonb_array_length(_batch.items), _batch.capacity, _batch.account_id) then
    raise exception 'the queue is full' using errcode = 'RL003';
  end if;

  -- All at once, so that two batches never wait for each other.
  perform runledger.use_blobs(
    _batch.account_id, jsonb_path_query_array(_batch.items, '$[*].request.data.blobs[*]')
  );
  if _batch.concurrent_executions is null then
    perform runledger.store_arrivals(array(
      select runledger.read_arrival(request, e.item, _batch.account_id, _batch.weight)
      from jsonb_array_elements(_batch.items) with ordinality e (item, n)
      cross join lateral jsonb_populate_record(null::runledger.submission_request, e.item -> 'request') request
      order by e.n
    ));
  else
    for _item in select e.item from jsonb_array_elements(_batch.items) with ordinality e (item, n) order by e.n loop
      perform runledger.receive_submission(
        _item -> 'request', -- no capacity: there is room for all
        decode(_item ->> 'code', 'base64'),
        decode(_item ->> 'stdin', 'base64'),
        decode(_item ->> 'expected_stdout', 'base64'),
        decode(_item ->> 'detail', 'base64')
      );
    end loop;
  end if;

  return query select receive_batch.answer, false, true;
end
$$;
comment on function runledger.receive_batch(jsonb, text) is 'Receives every item of the batch (what receive_submission takes, the bodies in base64) as that does, or finds the answer that the idempotency key stands for. The caller wakes the workers. RL003: they do not all fit into the queue, nothing was written.';
