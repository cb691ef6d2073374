-- Begins an attempt; its event's version is the fencing token.

create or replace function runledger.start_execution(
  submission_id uuid,
  worker_id uuid,
  schema_version integer,
  data jsonb,
  metadata jsonb,
  under_way text[] default '{}',
  offers text[] default null,
  does text[] default '{}'
) returns table (
  version integer,
  attempt integer,
  code bytea,
  stdin bytea,
  expected_stdout bytea,
  account_id uuid,
  detail bytea,
  total_seconds integer
)
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  _head record;
  _received jsonb;
  _version integer;
  _attempt integer := 1;
  _total_seconds integer;
  _delay_seconds integer;
  _events runledger.new_event[];
begin
  -- Not waited for on disk. If a crash forgets it, the submission is still queued, the next start takes the same
  -- version, and this attempt's end is refused, as another run stands there. Later events are waited for, and with them
  -- this one.
  perform set_config('synchronous_commit', 'off', true);

  -- Two starts at once want one version: one gets 23505.
  select e.stream_version, e.type, e.hash, e.data, worker.stopped_at is not null as is_given_up, pending.api_key_id into _head
  from runledger.pending
  join runledger.event e on e.stream_id = pending.submission_id
  left join runledger.worker on worker.id = start_execution.worker_id
  where pending.submission_id = start_execution.submission_id and e.stream_id = start_execution.submission_id
  order by e.stream_version desc limit 1;
  if not found then
    return;
  end if;

  -- A later release's type says nothing of an end.
  if _head.type not in ('submission.received', 'execution.started', 'execution.interrupted') and exists (
    select from runledger.event
    where event.stream_id = start_execution.submission_id
      and runledger.closes_submission(event.type)
  ) then
    -- Inserted by hand.
    delete from runledger.pending where pending.submission_id = start_execution.submission_id;
    return;
  end if;

  if _head.type = 'submission.cancel_requested' then
    return; -- who has it ends it, or the reconciler
  end if;

  -- The sweep has been here: nobody would look for this attempt.
  if _head.is_given_up then
    raise exception 'worker % was given up', start_execution.worker_id using errcode = 'RL005';
  end if;

  select tier.total_seconds into _total_seconds
  from runledger.api_key k
  join runledger.tier on tier.name = k.tier
  where k.id = _head.api_key_id;
  if _head.type = 'execution.started' and _head.data ->> 'run' = start_execution.data ->> 'run' then
    -- Our statement, repeated because its answer was lost.
    _version := _head.stream_version;
    _attempt := (_head.data ->> 'attempt')::integer;
  else
    if _head.type = 'execution.started' then
      if _head.data ->> 'run' = any (start_execution.under_way) then
        return; -- it runs here already
      end if;
      if (_head.data ->> 'worker')::uuid <> start_execution.worker_id
        and runledger.is_worker_alive((_head.data ->> 'worker')::uuid)
      then
        return; -- it runs elsewhere; if that worker is lost, the sweep enqueues it again
      end if;
      perform runledger.append_event(
        start_execution.submission_id, _head.stream_version + 1, 'execution.interrupted', 1,
        jsonb_build_object('reason', 'superseded', 'spends_attempt', true), start_execution.metadata, _head.hash
      );
      _head.stream_version := _head.stream_version + 1;
      _head.hash := null;
    end if;

    if _head.type = 'submission.received' then
      _received := _head.data;
    else
      select
        (array_agg(event.data) filter (where event.stream_version = 1))[1],
        count(*) filter (where event.type = 'execution.started') + 1
      into _received, _attempt
      from runledger.event
      where event.stream_id = start_execution.submission_id;
    end if;
    if start_execution.data ->> 'language' <> _received ->> 'language' then
      -- The job's language, a hint, was wrong: make the job anew.
      perform job.enqueue_execute(start_execution.submission_id);
      return;
    end if;
    if not runledger.suits_worker(_received, start_execution.offers, start_execution.does) then
      -- Another one is about to come; what has waited long for it is asked about less often.
      select least(60, 1 + extract(epoch from clock_timestamp() - event.recorded_at) / 10)::integer into _delay_seconds
      from runledger.event
      where event.stream_id = start_execution.submission_id and event.stream_version = 1;
      perform job.enqueue_execute(start_execution.submission_id, _delay_seconds);
      return;
    end if;

    _version := _head.stream_version + 1;
    _events := array[row(
      start_execution.submission_id, _version, 'execution.started', start_execution.schema_version,
      runledger.start_data(
        start_execution.data || jsonb_build_object('total_seconds', _total_seconds), _received, _attempt
      ), start_execution.metadata, _head.hash
    )::runledger.new_event];
    perform runledger.apply_events(_events, runledger.append_events(_events));
  end if;

  return query
    select _version, _attempt, body.code, body.stdin, body.expected_stdout, r.account_id, body.detail, _total_seconds
    from (values (start_execution.submission_id)) s (id)
    left join runledger.result r on r.id = start_execution.submission_id
    left join runledger.body on body.submission_id = start_execution.submission_id;
end
$$;
comment on function runledger.start_execution is 'Appends execution.started and returns what is to be run (code is null when the body is gone) and whose it is; repeated with the same data.run it returns the same. under_way: runs that this worker has under way. offers: the languages of a worker that does what a submission''s detail asks. does: what it can do of what submissions demand. No row: the submission has ended, runs here or on another live worker, or is enqueued again because it is in another language or asks for what the worker does not do. 23505: another start came first. RL005: this worker was given up and must register under a new id.';
