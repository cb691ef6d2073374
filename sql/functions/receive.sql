-- Receives submissions: log, bodies, projections and jobs, in one commit. A request is one submission or the submissions of a
-- batch, which are received all or not at all. The requests of one call share only the commit.
--
-- With durable, the submissions are on disk after the commit. Without it, the caller answers only when the submission has
-- ended, and the commit of the end also puts this commit on disk. An earlier answer needs flush_log: this function calls it for
-- a replayed request, the web process for a 408.

create or replace function runledger.receive(requests jsonb, submissions jsonb, durable boolean default true)
returns table (n integer, outcome text, earlier_id uuid, matches boolean, batch_answer text)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _request record;
  -- Counted before an account is locked, because counting for several submissions takes a lock that all accounts share.
  _has_room boolean := runledger.has_room(
    jsonb_array_length(receive.submissions), (receive.requests #>> '{0,capacity}')::integer
  );
  -- The named blobs: their requests, accounts and digests.
  _named record;
  _lacking integer[];
  _received runledger.received_request[] := '{}';
  -- Their keys whose tier limits how many submissions execute at once.
  _limited uuid[] := '{}';
  _locked uuid;
  -- The account of each received submission.
  _accounts uuid[] := '{}';
begin
  if not receive.durable then
    perform set_config('synchronous_commit', 'off', true);
  end if;

  -- All calls lock in one order: blobs, accounts with their idempotency keys, keys with a limit.
  if jsonb_path_exists(receive.submissions, '$[*].blobs ? (@ != null)') then
    select array_agg(s.request) as requests, array_agg(k.account_id) as accounts, array_agg(blob.sha256) as digests
    into _named
    from jsonb_to_recordset(receive.submissions) s (request integer, blobs text)
    cross join lateral runledger.list_blobs(decode(s.blobs, 'base64')) blob (sha256)
    join runledger.api_key k on k.id = (receive.requests -> s.request - 1 ->> 'api_key_id')::uuid;
    perform runledger.use_blobs(_named.accounts, _named.digests);
    -- The web process found these blobs a moment ago. When the client tries again, it answers which blob is missing.
    _lacking := array(
      select named.request
      from unnest(_named.requests, _named.accounts, _named.digests) named (request, account_id, sha256)
      where not exists (
        select from runledger.blob b where b.account_id = named.account_id and b.sha256 = named.sha256
      )
    );
  end if;

  for _request in
    select
      r.*, k.account_id, tier.weight, tier.concurrent_executions as most,
      -- An operator's key is revoked from the start, because no caller holds it.
      k.id is null or not coalesce(r.by_operator, false) and (k.revoked_at <= now() or k.expires_at <= now()) as is_refused
    from rows from (
      jsonb_to_recordset(receive.requests) as (
        submission_id uuid, submissions integer, api_key_id uuid, by_operator boolean, capacity integer, idempotency_key uuid,
        request_digest bytea, batch_answer text, waiter text, batch jsonb
      )
    ) with ordinality r
    left join runledger.api_key k on k.id = r.api_key_id
    left join runledger.tier on tier.name = k.tier
    order by hashtext(k.account_id::text), r.idempotency_key, r.ordinality
  loop
    receive.n := _request.ordinality;
    receive.outcome := case when _request.is_refused then 'key_refused' else 'received' end;
    receive.earlier_id := null;
    receive.matches := null;
    receive.batch_answer := null;
    if _request.account_id is distinct from _locked and receive.outcome = 'received' then
      -- Calls for one account take turns; otherwise two of them would find the same position.
      perform pg_advisory_xact_lock(71832, hashtext(_request.account_id::text));
      _locked := _request.account_id;
    end if;
    if receive.outcome = 'received' and _request.idempotency_key is not null then
      insert into runledger.idempotency as i (account_id, key, submission_id, request_digest, batch_answer)
      values (
        _request.account_id, _request.idempotency_key, _request.submission_id, _request.request_digest, _request.batch_answer
      )
      on conflict on constraint idempotency_pkey do update
        set submission_id = excluded.submission_id, request_digest = excluded.request_digest,
          batch_answer = excluded.batch_answer, created_at = now()
        where i.created_at <= now() - interval '24 hours';
      if not found then
        select 'replayed', i.submission_id, i.request_digest = _request.request_digest, i.batch_answer
        into strict receive.outcome, receive.earlier_id, receive.matches, receive.batch_answer
        from runledger.idempotency i
        where i.account_id = _request.account_id and i.key = _request.idempotency_key;
        perform runledger.flush_log();
      end if;
    end if;
    if receive.outcome = 'received' and not coalesce(_has_room, false) and _request.capacity is not null then
      if not runledger.has_room(
        cardinality(_accounts) + _request.submissions, _request.capacity, _request.account_id,
        cardinality(array_positions(_accounts, _request.account_id)) + _request.submissions
      ) then
        receive.outcome := 'queue_full';
      end if;
    end if;
    if receive.outcome = 'received' and receive.n = any (_lacking) then
      receive.outcome := 'blob_missing';
    end if;
    if receive.outcome = 'received' then
      _received := _received || row(
        receive.n, _request.api_key_id, _request.account_id, _request.weight, _request.most, _request.waiter
      )::runledger.received_request;
      if _request.most is not null then
        _limited := _limited || _request.api_key_id;
      end if;
      if _request.batch is not null then
        perform runledger.append_event(b.id, 1, 'batch.received', b.schema_version, b.data, b.metadata)
        from jsonb_to_record(_request.batch) b (id uuid, schema_version integer, data jsonb, metadata jsonb);
        insert into runledger.delivery (submission_id, webhook_id, url, secret)
        select b.id, b.webhook_id, b.webhook_url, b.webhook_secret
        from jsonb_to_record(_request.batch) b (id uuid, webhook_id uuid, webhook_url text, webhook_secret text);
      end if;
      _accounts := _accounts || array_fill(_request.account_id, array[_request.submissions]);
    elsif receive.outcome in ('queue_full', 'blob_missing') and _request.idempotency_key is not null then
      delete from runledger.idempotency i
      where i.account_id = _request.account_id and i.key = _request.idempotency_key;
    end if;
    return next;
  end loop;

  if cardinality(_received) > 0 then
    perform runledger.store_received(receive.submissions, _received, _limited);
  end if;
  -- A web process answers 503 after 1.8 s, so a call that it no longer waits for must not take effect.
  if clock_timestamp() > statement_timestamp() + interval '1.5 seconds' then
    raise exception 'too late' using errcode = '57014';
  end if;
end
$$;
comment on function runledger.receive is 'Receives the submissions of requests. requests: an array of objects with submission_id (of its first submission), submissions (how many), api_key_id, capacity (the most unfinished submissions of all keys, including these; null: not checked), idempotency_key and request_digest (which identifies equal requests under one key), batch_answer (the answer to a repeated batch), waiter (a channel to notify of the end), by_operator (the key need not be valid), batch (an object with id, webhook_id, webhook_url, webhook_secret, schema_version, data and metadata of batch.received; none: the batch has no webhook). submissions: an array of objects with request (its number, from 1), submission_id, webhook_id, webhook_url and webhook_secret (or none), schema_version, data and metadata of the event, and in base64 code, stdin, expected_stdout, detail, blobs. Returns one row for each request; n is its number. outcome: received; replayed: the idempotency key belongs to earlier_id or batch_answer, and matches says whether the request is the same; key_refused, queue_full, blob_missing: nothing of it was written. 57014: the call took more than 1.5 s, and nothing of any request was written.';

create or replace function runledger.flush_log() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Waiting for a commit also waits for all earlier commits, but only if the transaction writes.
  perform set_config('synchronous_commit', 'on', true);
  perform pg_logical_emit_message(true, 'runledger', '');
end
$$;
comment on function runledger.flush_log is 'When its transaction has been committed, every earlier commit is on disk.';

create or replace function runledger.has_room(
  submissions integer, capacity integer, account_id uuid default null, of_account integer default 0
) returns boolean
language plpgsql
as $$
declare
  -- Submissions that are being received have a position in the log but are not counted yet. Within this margin below the
  -- capacity, every call counts. The margin has room for twenty batches of twenty.
  _margin integer := least(1000, greatest(400, has_room.capacity / 4));
  _position bigint := (select last_value from runledger.event_position);
  _counted_from bigint := nullif(current_setting('runledger.counted_from', true), '');
  _most integer := has_room.capacity + has_room.capacity / 4;
  _few integer := has_room.capacity / 50;
  _pending integer;
begin
  -- Counting reads every removed row until vacuum. But each submission takes a position in the log, and so the positions bound
  -- how many came since this session's last count.
  if _position - _counted_from + has_room.submissions + _margin <= has_room.capacity then
    return true;
  end if;
  if has_room.submissions > 1 then
    -- Calls for several submissions take turns, so the queue exceeds the capacity by at most one submission per connection.
    perform pg_advisory_xact_lock(71830, -4);
  end if;
  select count(*) into _pending from (select from runledger.pending limit _most) p;
  perform set_config('runledger.counted_from', (_position - _pending)::text, false);
  if _pending + has_room.submissions <= has_room.capacity then
    return true;
  end if;
  return _pending + has_room.submissions <= _most and has_room.account_id is not null and has_room.of_account + (
    select count(*) from (select from runledger.pending p where p.account_id = has_room.account_id limit _few) mine
  ) <= _few;
end
$$;
comment on function runledger.has_room is 'True when the queue has room for so many more submissions, not counting those that are being received at this moment. A full queue takes a few more of each account, so that no account keeps another out: an account may have a fiftieth of the capacity, including of_account submissions, and all such accounts together may exceed the capacity by a quarter.';
