-- Accepts a submission: log, bodies, projection and job in one transaction and round trip.

create or replace function runledger.receive_submission(
  request jsonb,
  code bytea,
  stdin bytea,
  expected_stdout bytea,
  detail bytea default null
) returns table (id uuid, replayed boolean, matches boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  _request runledger.submission_request := jsonb_populate_record(
    null::runledger.submission_request, receive_submission.request
  );
  _key record;
  _earlier record;
  _admitted boolean := true;
begin
  select k.account_id, tier.concurrent_executions, tier.weight
  into strict _key
  from runledger.api_key k
  join runledger.tier on tier.name = k.tier
  where k.id = _request.api_key_id;

  if _request.told_to is not null then
    -- The caller is answered with the result, whose commit is on disk and with it this one. What a crash forgets
    -- before, no answer told of. So nobody waits for this commit or its NOTIFY.
    perform set_config('synchronous_commit', 'off', true);
  end if;

  if _request.idempotency_key is not null then
    insert into runledger.idempotency as i (account_id, key, submission_id, request_digest)
    values (_key.account_id, _request.idempotency_key, _request.submission_id, _request.request_digest)
    on conflict on constraint idempotency_pkey do update
      set submission_id = excluded.submission_id, request_digest = excluded.request_digest, created_at = now()
      where i.created_at <= now() - interval '24 hours';
    if not found then
      select i.submission_id, i.request_digest into strict _earlier
      from runledger.idempotency i
      where i.account_id = _key.account_id and i.key = _request.idempotency_key;
      -- The earlier one may not be on disk yet. Locking its row was a write, so waiting for this commit waits for that
      -- one.
      if _request.told_to is not null then
        perform runledger.await_submission(_earlier.submission_id, _request.told_to);
      end if;
      return query select _earlier.submission_id, true, _earlier.request_digest = _request.request_digest;
      return;
    end if;
  end if;

  if _request.capacity is not null and not runledger.has_room(1, _request.capacity, _key.account_id) then
    raise exception 'the queue is full' using errcode = 'RL003';
  end if;

  -- Before the key's row: a batch has locked all of its blobs by then.
  if _request.data ? 'blobs' then
    perform runledger.use_blobs(_key.account_id, _request.data -> 'blobs');
  end if;

  if _key.concurrent_executions is not null then
    -- Those of one key take turns, so that the count is exact.
    perform from runledger.api_key k where k.id = _request.api_key_id for no key update;
    _admitted := (
      select count(*) from runledger.pending
      where pending.api_key_id = _request.api_key_id and pending.admitted
    ) < _key.concurrent_executions
      or coalesce(_request.data ->> 'priority' <> 'low', true) and runledger.displace_low(_request.api_key_id);
  end if;

  perform runledger.store_arrivals(array[row(
    _request, receive_submission.code, receive_submission.stdin, receive_submission.expected_stdout,
    receive_submission.detail, _key.account_id, _key.weight, _admitted
  )::runledger.arrival]);
  return query select _request.submission_id, false, true;
end
$$;
comment on function runledger.receive_submission(jsonb, bytea, bytea, bytea, bytea) is 'Appends submission.received with all that belongs to it, or finds the submission that the idempotency key stands for. request: a runledger.submission_request. RL003: the queue is full; 40001: a blob that it names is gone; 57014: it took more than 1.5 s. Then nothing was written.';
