-- Accepts a submission: log, bodies, projection and job in one transaction and one round trip.

drop function if exists runledger.receive_submission(
  uuid, uuid, bytea, bytea, bytea, uuid, text, text, integer, jsonb, jsonb, boolean, integer, uuid, bytea
);
drop function if exists runledger.receive_submission(
  uuid, uuid, bytea, bytea, bytea, uuid, text, text, integer, jsonb, jsonb, boolean, integer, uuid, bytea, boolean, boolean
);
drop function if exists runledger.receive_submission(
  uuid, uuid, bytea, bytea, bytea, uuid, text, text, integer, jsonb, jsonb, boolean, integer, uuid, bytea, boolean, boolean,
  boolean
);

create or replace function runledger.receive_submission(
  submission_id uuid,
  api_key_id uuid,
  code bytea,
  stdin bytea,
  expected_stdout bytea,
  webhook_id uuid,
  webhook_url text,
  webhook_secret text,
  schema_version integer,
  data jsonb,
  metadata jsonb,
  awaited boolean,
  capacity integer,
  idempotency_key uuid,
  request_digest bytea,
  wakes boolean default true,
  checks_key boolean default false,
  told_at_end boolean default false,
  told_to text default null
) returns table (id uuid, replayed boolean, matches boolean)
language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  _key record;
  _earlier record;
  _admitted boolean := true;
  _recorded_at timestamptz;
begin
  if receive_submission.told_at_end then
    -- Its acknowledgement is its result, whose commit is on disk, and with it all before it. A crash of the server before
    -- that, or before the half second in which the server writes such commits by itself, forgets a submission of which no
    -- answer told. So it need not be waited for, nor does its NOTIFY hold up others.
    perform set_config('synchronous_commit', 'off', true);
  end if;

  select
    k.account_id, tier.concurrent_executions,
    k.revoked_at is null and (k.expires_at is null or k.expires_at > now()) and tier.requests_per_minute is null
      as needs_no_admission
  into strict _key
  from runledger.api_key k
  join runledger.tier on tier.name = k.tier
  where k.id = receive_submission.api_key_id;
  if receive_submission.checks_key and not _key.needs_no_admission then
    raise exception 'this key must be admitted first' using errcode = 'RL008';
  end if;

  if receive_submission.idempotency_key is not null then
    insert into runledger.idempotency as i (account_id, key, submission_id, request_digest)
    values (_key.account_id, receive_submission.idempotency_key, receive_submission.submission_id, receive_submission.request_digest)
    on conflict on constraint idempotency_pkey do update
      set submission_id = excluded.submission_id, request_digest = excluded.request_digest, created_at = now()
      where i.created_at <= now() - interval '24 hours';
    if not found then
      select i.submission_id, i.request_digest into strict _earlier
      from runledger.idempotency i
      where i.account_id = _key.account_id and i.key = receive_submission.idempotency_key;
      -- The earlier one may be known to nobody yet, received by somebody who waits. To have locked its row is a write, and
      -- where this commit is waited for, so is all before it.
      if receive_submission.awaited then
        perform runledger.await_submission(_earlier.submission_id, receive_submission.told_to);
      end if;
      return query select _earlier.submission_id, true, _earlier.request_digest = receive_submission.request_digest;
      return;
    end if;
  end if;

  if receive_submission.capacity is not null and not runledger.has_room(1, receive_submission.capacity) then
    raise exception 'the queue is full' using errcode = 'RL003';
  end if;

  if _key.concurrent_executions is not null then
    -- Concurrent submissions and completions of one key take turns here, so that the count is exact.
    perform from runledger.api_key k where k.id = receive_submission.api_key_id for no key update;
    _admitted := (
      select count(*) from runledger.pending
      where pending.api_key_id = receive_submission.api_key_id and pending.admitted
    ) < _key.concurrent_executions;
  end if;

  _recorded_at := runledger.append_event(
    receive_submission.submission_id, 1, 'submission.received', receive_submission.schema_version,
    receive_submission.data, receive_submission.metadata
  );
  insert into runledger.body (submission_id, code, stdin, expected_stdout)
  values (receive_submission.submission_id, receive_submission.code, receive_submission.stdin, receive_submission.expected_stdout);
  if receive_submission.webhook_id is not null then
    insert into runledger.delivery (submission_id, webhook_id, url, secret)
    values (receive_submission.submission_id, receive_submission.webhook_id, receive_submission.webhook_url, receive_submission.webhook_secret);
  end if;
  insert into runledger.pending (submission_id, api_key_id, admitted, awaited, told_to)
  values (
    receive_submission.submission_id, receive_submission.api_key_id, _admitted,
    receive_submission.awaited and receive_submission.told_to is null,
    case when receive_submission.told_to is not null then array[receive_submission.told_to] end
  );
  perform runledger.apply_event(
    receive_submission.submission_id, 1, 'submission.received', receive_submission.data, _recorded_at
  );
  if _admitted then
    perform job.enqueue_first(receive_submission.submission_id, receive_submission.data ->> 'language');
    if receive_submission.wakes then
      perform job.wake_workers(1);
    end if;
  end if;

  -- Held up by a lock for so long, it was answered 503 by now: then it must not take effect either.
  if clock_timestamp() > statement_timestamp() + interval '1.5 seconds' then
    raise exception 'too late' using errcode = '57014';
  end if;
  return query select receive_submission.submission_id, false, true;
end
$$;
comment on function runledger.receive_submission is 'Appends submission.received with all that belongs to it, or finds the submission that the idempotency key stands for. awaited: somebody waits for its end, who is told on the channel told_to. told_at_end: whoever asks is told of its end and of nothing before, but after runledger.flush_log. wakes: false, the caller wakes the workers. checks_key: nobody has called admit_request; RL008: do so. RL003: the queue is full; 57014: it took more than 1.5 s. Then nothing was written.';
