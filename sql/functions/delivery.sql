-- Webhooks: jobs, attempts, postponement, replays. A batch's webhook is due with the end of its last member, in the same commit
-- (runledger.end_submissions). The batch's stream names its members, and its row in runledger.delivery has the address.

-- This is a function so that the worker's role cannot list all secrets.

create or replace function runledger.read_delivery(webhook_id uuid)
returns table (
  submission_id uuid, account_id uuid, url text, secret text, attempt integer, round_attempt integer, version integer,
  output_bytes bigint, format text, is_batch boolean
)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select
    d.submission_id,
    (received.data ->> 'account')::uuid,
    d.url,
    d.secret,
    d.attempts + 1,
    (
      select count(*) + 1 from runledger.event e
      where e.stream_id = d.webhook_id and e.stream_version > head.replayed_version and e.type = 'webhook.attempt_failed'
    )::integer,
    head.version,
    -- The rows' headers have the lengths, so no large value is read.
    coalesce(length(o.stdout), 0)::bigint + coalesce(length(o.stderr), 0) + coalesce(length(o.compile_output), 0) + coalesce(length(o.report), 0),
    received.data #>> '{webhook,format}',
    received.type = 'batch.received'
  from runledger.delivery d
  join runledger.event received on received.stream_id = d.submission_id and received.stream_version = 1
  left join runledger.output o on o.submission_id = d.submission_id
  cross join lateral (
    select
      coalesce(max(e.stream_version), 0) as version,
      coalesce(max(e.stream_version) filter (where e.type = 'webhook.replayed'), 0) as replayed_version
    from runledger.event e
    where e.stream_id = d.webhook_id
  ) head
  where d.webhook_id = read_delivery.webhook_id
    and d.state = 'pending'
    and d.due_at <= now()
    and d.secret is not null
$$;
comment on function runledger.read_delivery is 'Returns a delivery whose next attempt is due: the number of the attempt in all and since the last replay, the version of its stream, which the attempt''s event must follow, its format (null: the default), and whether submission_id is a batch. No row: the delivery has ended or is not due.';

create or replace function runledger.read_batch(batch_id uuid)
returns table (id uuid, status text, verdict text, finished_at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select r.id, r.status, r.verdict, r.finished_at
  from runledger.event received
  cross join lateral jsonb_array_elements_text(received.data -> 'submissions') with ordinality member (id, n)
  join runledger.result r on r.id = member.id::uuid
  where received.stream_id = read_batch.batch_id and received.stream_version = 1
  order by member.n
$$;
comment on function runledger.read_batch is 'Returns the results of the members of a batch that have ended, in the order of its items.';

create or replace function runledger.record_attempt(
  webhook_id uuid, version integer, type text, schema_version integer, data jsonb, metadata jsonb,
  retry_seconds double precision, abandoned_because text
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- By the database's clock, which also decides when the attempt is due.
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
    perform job.enqueue_deliveries(array[record_attempt.webhook_id], _next_attempt_at);
  end if;
end
$$;
comment on function runledger.record_attempt is 'Appends webhook.delivered or webhook.attempt_failed (and webhook.abandoned after the last attempt) after the given version, enqueues the next attempt in retry_seconds, and removes the secret at the end. 23505: another event was recorded in the meantime, so this attempt does not count.';

create or replace function runledger.postpone_delivery(webhook_id uuid, version integer, seconds double precision) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _due_at timestamptz := clock_timestamp() + make_interval(secs => postpone_delivery.seconds);
begin
  -- If a crash loses this change, the job comes again.
  perform set_config('synchronous_commit', 'off', true);
  update runledger.delivery set due_at = _due_at
  where delivery.webhook_id = postpone_delivery.webhook_id
    and delivery.state = 'pending'
    -- A worker that was wrongly declared lost must not bring forward another worker's next attempt.
    and not exists (
      select from runledger.event e
      where e.stream_id = postpone_delivery.webhook_id and e.stream_version > postpone_delivery.version
    );
  if found then
    perform job.enqueue_deliveries(array[postpone_delivery.webhook_id], _due_at);
  end if;
end
$$;
comment on function runledger.postpone_delivery is 'Makes a pending delivery due in so many seconds, without an attempt. Does nothing when its stream has events after the given version.';

create or replace function runledger.replay_delivery(
  webhook_id uuid, secret text, schema_version integer, metadata jsonb
) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _delivery record;
begin
  select d.submission_id, d.state, d.url, split_part(received.type, '.', 1) as subject into _delivery
  from runledger.delivery d
  left join runledger.event received on received.stream_id = d.submission_id and received.stream_version = 1
  where d.webhook_id = replay_delivery.webhook_id
  for update of d;
  if not found or _delivery.state not in ('delivered', 'abandoned') then
    return _delivery.state;
  end if;
  if _delivery.url is null then
    return 'purged';
  end if;

  perform runledger.append_event(
    replay_delivery.webhook_id, null, 'webhook.replayed', replay_delivery.schema_version,
    jsonb_build_object(_delivery.subject, _delivery.submission_id), replay_delivery.metadata
  );
  update runledger.delivery d
  set state = 'pending', secret = replay_delivery.secret, due_at = clock_timestamp()
  where d.webhook_id = replay_delivery.webhook_id;
  perform job.enqueue_deliveries(array[replay_delivery.webhook_id], clock_timestamp());
  return _delivery.state;
end
$$;
comment on function runledger.replay_delivery is 'Appends webhook.replayed and makes a delivered or abandoned webhook due now, under the same id and with a new schedule. Returns the state that it had; a webhook in any other state than delivered or abandoned does not change. purged: its address was removed; null: there is no such webhook.';

-- The key of a delivery's job is the webhook's id.

create or replace function job.enqueue_deliveries(webhook_ids uuid[], run_at timestamptz) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select graphile_worker.add_jobs(array(
    select row(
      'deliver', json_build_object('webhook', id), null, enqueue_deliveries.run_at, null, id::text, null, null
    )::graphile_worker.job_spec
    from unnest(enqueue_deliveries.webhook_ids) id
  ))
$$;
comment on function job.enqueue_deliveries is 'Enqueues one attempt to deliver each webhook, in the caller''s transaction.';
