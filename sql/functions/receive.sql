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
        receive.n, _request.api_key_id, _request.account_id, _request.weight, _request.most, _request.waiter,
        _request.batch
      )::runledger.received_request;
      _accounts := _accounts || array_fill(_request.account_id, array[_request.submissions]);
    elsif receive.outcome in ('queue_full', 'blob_missing') and _request.idempotency_key is not null then
      delete from runledger.idempotency i
      where i.account_id = _request.account_id and i.key = _request.idempotency_key;
    end if;
    return next;
  end loop;

  if cardinality(_received) > 0 then
    perform runledger.store_received(receive.submissions, _received);
  end if;
  -- A web process answers 503 after 1.8 s, so a call that it no longer waits for must not take effect.
  if clock_timestamp() > statement_timestamp() + interval '1.5 seconds' then
    raise exception 'too late' using errcode = '57014';
  end if;
end
$$;
comment on function runledger.receive is 'Receives the submissions of requests. requests: an array of objects with submission_id (of its first submission), submissions (how many), api_key_id, capacity (the most unfinished submissions of all keys, including these; null: not checked), idempotency_key and request_digest (which identifies equal requests under one key), batch_answer (the answer to a repeated batch), waiter (a channel to notify of the end), by_operator (the key need not be valid), batch (an object with id, webhook_id, webhook_url, webhook_secret, schema_version, data and metadata of batch.received; none: the batch has no webhook). submissions: an array of objects with request (its number, from 1), submission_id, webhook_id, webhook_url and webhook_secret (or none), schema_version, data and metadata of the event, and in base64 code, stdin, expected_stdout, detail, blobs. Returns one row for each request; n is its number. outcome: received; replayed: the idempotency key belongs to earlier_id or batch_answer, and matches says whether the request is the same; key_refused, queue_full, blob_missing: nothing of it was written. 57014: the call took more than 1.5 s, and nothing of any request was written.';

create or replace function runledger.rerun_submission(original uuid, request jsonb, at_once integer default null)
returns table (id uuid, outcome text, matches boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _campaign constant text := rerun_submission.request #>> '{data,campaign}';
  _original record;
  _refusal text;
begin
  if _campaign is not null then
    -- Calls of one campaign take turns, so that both counts are exact.
    perform pg_advisory_xact_lock(71831, hashtext(_campaign));
    _refusal := case
      when exists (
        select from runledger.rerun r where r.campaign = _campaign and r.rerun_of = rerun_submission.original
      ) then 'done'
      when rerun_submission.at_once <= (
        select count(*)
        from runledger.pending p
        cross join lateral (
          select from runledger.rerun r where r.submission_id = p.submission_id and r.campaign = _campaign
          offset 0 -- one look-up for each pending submission, however many reruns the campaign has
        ) of_campaign
      ) then 'busy'
    end;
    if _refusal is not null then
      return query select null::uuid, _refusal, false;
      return;
    end if;
  end if;

  select
    received.data, received.schema_version, r.account_id, r.finished_at is not null as is_final,
    body.submission_id is not null
      and not exists (
        select from runledger.list_blobs(body.blobs) named (sha256)
        where not exists (
          select from runledger.blob b where b.account_id = r.account_id and b.sha256 = named.sha256
        )
      ) as is_kept, body.code, body.stdin, body.expected_stdout, body.detail, body.blobs
  into _original
  from runledger.submission r
  join runledger.api_key k on k.account_id = r.account_id
  join runledger.event received on received.stream_id = rerun_submission.original and received.stream_version = 1
  left join runledger.body on body.submission_id = rerun_submission.original
  where r.id = rerun_submission.original and k.id = (rerun_submission.request ->> 'api_key_id')::uuid;
  if not found then
    return;
  end if;

  _refusal := case when not _original.is_final then 'not_final' when not _original.is_kept then 'purged' end;
  if _refusal is not null then
    -- A repeated request is replayed all the same. The lock keeps the reconciler from deleting the idempotency key meanwhile.
    perform from runledger.idempotency i
    where i.account_id = _original.account_id and i.key = (rerun_submission.request ->> 'idempotency_key')::uuid
      and i.created_at > now() - interval '24 hours'
    for no key update;
    if not found then
      return query select null::uuid, _refusal, false;
      return;
    end if;
  end if;

  return query
    select coalesce(received.earlier_id, (rerun_submission.request ->> 'submission_id')::uuid), received.outcome, received.matches
    from runledger.receive(
      jsonb_build_array(rerun_submission.request || jsonb_build_object(
        'submissions', 1, 'by_operator', _campaign is not null
      )),
      jsonb_build_array(jsonb_build_object(
        'request', 1,
        'submission_id', rerun_submission.request -> 'submission_id',
        'schema_version', _original.schema_version,
        -- A campaign sets the priority of its reruns, so a rerun of such a rerun does not inherit it.
        'data', (_original.data - 'batch' - case when _original.data ? 'campaign' then '{campaign,priority}'::text[] else '{}' end) || coalesce(rerun_submission.request -> 'data', '{}') || jsonb_build_object(
          'api_key', rerun_submission.request -> 'api_key_id',
          -- The webhook's secret no longer exists.
          'webhook', null,
          'rerun_of', coalesce(_original.data -> 'rerun_of', to_jsonb(rerun_submission.original))
        ),
        'metadata', rerun_submission.request -> 'metadata',
        -- The bodies do not leave the database.
        'code', encode(_original.code, 'base64'), 'stdin', encode(_original.stdin, 'base64'),
        'expected_stdout', encode(_original.expected_stdout, 'base64'), 'detail', encode(_original.detail, 'base64'),
        'blobs', encode(_original.blobs, 'base64')
      ))
    ) received;
end
$$;
comment on function runledger.rerun_submission is 'Receives a submission of the account of request.api_key_id again, with the same code, input and options, but without webhook. request: as in runledger.receive, with the event''s metadata, and data that is added to the event''s data. With data.campaign, which repeats only originals, nothing is received when the campaign has repeated this submission (done) or has at_once reruns unfinished (busy). No row: the account has no such submission. outcome: as in runledger.receive; not_final, purged, done, busy: nothing was written. id: of the new submission, or of the replayed one.';

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

create or replace function runledger.store_received(submissions jsonb, received runledger.received_request[]) returns void
language plpgsql
as $$
declare
  _now constant timestamptz := clock_timestamp();
  _jobs graphile_worker.job_spec[];
  _has_webhook boolean;
  _is_rerun boolean;
  _has_batch boolean;
  _waiting uuid[] := '{}';
begin
  if exists (select from unnest(store_received.received) r where r.most is not null) then
    -- The locks make the counts exact.
    perform from runledger.api_key k
    where k.id in (select r.api_key_id from unnest(store_received.received) r where r.most is not null)
    order by k.id for no key update;
    _waiting := array(
      -- Counted once for each request, because a key may have very many.
      with request as materialized (
        select r.n, r.api_key_id, r.most - (
          select count(*) from runledger.pending p where p.api_key_id = r.api_key_id and p.admitted
        ) as room
        from unnest(store_received.received) r
        where r.most is not null
      )
      select limited.submission_id
      from (
        select
          s.submission_id, r.api_key_id, s.data -> 'priority' is not distinct from '"low"' as is_low,
          -- Low ones come last, because a later normal one would displace them.
          row_number() over (
            partition by r.api_key_id order by s.data -> 'priority' is not distinct from '"low"', s.ordinality
          ) <= r.room as fits
        from rows from (
          jsonb_to_recordset(store_received.submissions) as (request integer, submission_id uuid, data jsonb)
        ) with ordinality s
        join request r on r.n = s.request
        order by s.ordinality
        offset 0
      ) limited
      where not limited.fits and (limited.is_low or not runledger.displace_low(limited.api_key_id))
    );
  end if;
  with item as materialized (
    select
      s.*, r.api_key_id, r.account_id, r.weight, r.waiter, s.data -> 'priority' is not distinct from '"low"' as is_low,
      s.submission_id <> all (_waiting) as admitted,
      runledger.hash_event(
        null, s.submission_id, 1, 'submission.received', s.schema_version, s.data, s.metadata, _now
      ) as hash
    from rows from (
      jsonb_to_recordset(store_received.submissions) as (
        request integer, submission_id uuid, schema_version integer, data jsonb, metadata jsonb, code text, stdin text,
        expected_stdout text, detail text, blobs text, webhook_id uuid
      )
    ) with ordinality s
    join unnest(store_received.received) r on r.n = s.request
  ), appended as (
    insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash)
    select item.submission_id, 1, 'submission.received', item.schema_version, item.data, item.metadata, _now, item.hash
    from item
  ), kept as (
    insert into runledger.body (submission_id, code, stdin, expected_stdout, detail, blobs)
    select
      item.submission_id, decode(item.code, 'base64'), decode(item.stdin, 'base64'),
      decode(item.expected_stdout, 'base64'), decode(item.detail, 'base64'), decode(item.blobs, 'base64')
    from item
  ), account as materialized (
    select asked.account_id, asked.weight, found.start, found.step
    from (
      select distinct item.account_id, item.weight from item where item.admitted and not item.is_low
    ) asked
    cross join lateral job.find_position(asked.account_id, asked.weight) found
  ), stored as (
    insert into runledger.pending as p (
      submission_id, account_id, api_key_id, language, is_low, requires, admitted, position, version, hash, created_at, tag,
      output_encoding, rerun_of, batch_id, waiters
    )
    select
      item.submission_id, item.account_id, item.api_key_id, item.data ->> 'language', item.is_low,
      runledger.read_requirements(item.data), item.admitted,
      -- A submission that is not admitted gets its position at admission; a low one has none.
      case when item.admitted and not item.is_low then
        account.start + account.step * row_number() over (
          partition by item.account_id, item.weight, item.admitted and not item.is_low order by item.ordinality
        )
      end,
      1, item.hash, _now, item.data ->> 'tag', item.data ->> 'output_encoding', (item.data ->> 'rerun_of')::uuid,
      (item.data ->> 'batch')::uuid, case when item.waiter is not null then array[item.waiter] end
    from item
    left join account using (account_id, weight)
    returning p.submission_id, p.language, p.is_low, p.position, p.admitted, p.rerun_of, p.batch_id
  )
  select
    array_agg(job.describe_execution(stored.submission_id, stored.language, stored.is_low, stored.position)) filter (where stored.admitted),
    bool_or(stored.rerun_of is not null), bool_or(stored.batch_id is not null),
    (select bool_or(item.webhook_id is not null) from item)
  into _jobs, _is_rerun, _has_batch, _has_webhook
  from stored;
  if _jobs is not null then
    perform graphile_worker.add_jobs(_jobs);
  end if;

  if _is_rerun then
    insert into runledger.rerun (submission_id, rerun_of, campaign)
    select s.submission_id, (s.data ->> 'rerun_of')::uuid, s.data ->> 'campaign'
    from jsonb_to_recordset(store_received.submissions) s (request integer, submission_id uuid, data jsonb)
    join unnest(store_received.received) r on r.n = s.request
    where s.data ? 'rerun_of';
  end if;
  if _has_webhook then
    insert into runledger.delivery (submission_id, webhook_id, url, secret)
    select s.submission_id, s.webhook_id, s.webhook_url, s.webhook_secret
    from jsonb_to_recordset(store_received.submissions) s (
      request integer, submission_id uuid, webhook_id uuid, webhook_url text, webhook_secret text
    )
    join unnest(store_received.received) r on r.n = s.request
    where s.webhook_id is not null;
  end if;
  if _has_batch then
    perform runledger.append_event(b.id, 1, 'batch.received', b.schema_version, b.data, b.metadata)
    from unnest(store_received.received) r
    cross join lateral jsonb_to_record(r.batch) b (id uuid, schema_version integer, data jsonb, metadata jsonb)
    where r.batch is not null;
    insert into runledger.delivery (submission_id, webhook_id, url, secret)
    select b.id, b.webhook_id, b.webhook_url, b.webhook_secret
    from unnest(store_received.received) r
    cross join lateral jsonb_to_record(r.batch) b (id uuid, webhook_id uuid, webhook_url text, webhook_secret text)
    where r.batch is not null;
  end if;
end
$$;
comment on function runledger.store_received is 'Appends submission.received for each submission of the received requests (runledger.receive), and writes everything that belongs to it.';

create or replace function runledger.use_blobs(accounts uuid[], digests bytea[]) returns void
language plpgsql
as $$
begin
  -- Protects the blobs from a purge until the submission is committed. A blob used within the last half day cannot be purged
  -- within the next half day. Any other blob is updated here, so a concurrent purge waits, checks again and keeps it.
  perform from runledger.blob b
  where (b.account_id, b.sha256) in (select * from unnest(use_blobs.accounts, use_blobs.digests))
    and b.used_at < now() - interval '12 hours'
  order by b.account_id, b.sha256
  for no key update;
  update runledger.blob b set used_at = now()
  where (b.account_id, b.sha256) in (select * from unnest(use_blobs.accounts, use_blobs.digests))
    and b.used_at < now() - interval '12 hours';
end
$$;
comment on function runledger.use_blobs is 'Notes that a submission which this transaction receives names blobs of these accounts (two arrays of equal length).';

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
