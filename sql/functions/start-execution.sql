-- Claims a submission for one attempt: the version of the event it appends is the attempt's fencing token.

create or replace function runledger.start_execution(
  submission_id uuid,
  worker_id uuid,
  schema_version integer,
  data jsonb,
  metadata jsonb
) returns table (version integer, attempt integer, code bytea, stdin bytea, expected_stdout bytea)
language plpgsql security definer set search_path = ''
as $$
declare
  _head record;
  _language text;
  _attempt integer;
begin
  -- The row lock serialises two deliveries of one job; a submission that has ended has no row.
  perform from runledger.pending where pending.submission_id = start_execution.submission_id for update;
  if not found then
    return;
  end if;

  -- What it began now nobody would look for: the sweep has been here.
  perform from runledger.worker w where w.id = start_execution.worker_id and w.stopped_at is not null;
  if found then
    raise exception 'worker % was given up', start_execution.worker_id using errcode = 'RL005';
  end if;

  select event.stream_version, event.type, (event.data ->> 'worker')::uuid as worker_id, event.data ->> 'run' as run
  into strict _head
  from runledger.event
  where event.stream_id = start_execution.submission_id
  order by event.stream_version desc limit 1;

  if _head.type = 'execution.started' and _head.run = start_execution.data ->> 'run' then
    null; -- our own statement, sent again because its answer was lost: the attempt stands already
  else
    if _head.type = 'execution.started' then
      if _head.worker_id <> start_execution.worker_id and runledger.is_worker_alive(_head.worker_id) then
        return; -- it is running elsewhere; should that worker be lost, the sweep enqueues it again
      end if;
      _head.stream_version := _head.stream_version + 1;
      perform runledger.append_event(
        start_execution.submission_id, _head.stream_version, 'execution.interrupted', 1,
        jsonb_build_object('reason', 'superseded', 'spends_attempt', true), start_execution.metadata
      );
    end if;

    select event.data ->> 'language' into strict _language
    from runledger.event
    where event.stream_id = start_execution.submission_id and event.stream_version = 1;
    if start_execution.data ->> 'language' <> _language then
      -- The worker knows the language from the projection, which somebody has changed: make it anew, and come again.
      delete from runledger.result where result.id = start_execution.submission_id;
      perform runledger.refresh_result(start_execution.submission_id);
      perform job.enqueue_execute(start_execution.submission_id);
      return;
    end if;

    select count(*) + 1 into _attempt
    from runledger.event
    where event.stream_id = start_execution.submission_id and event.type = 'execution.started';
    _head.stream_version := _head.stream_version + 1;
    perform runledger.append_event(
      start_execution.submission_id, _head.stream_version, 'execution.started', start_execution.schema_version,
      start_execution.data || jsonb_build_object('attempt', _attempt), start_execution.metadata
    );
    perform runledger.refresh_result(start_execution.submission_id);
  end if;

  return query
    select _head.stream_version, _attempt, body.code, body.stdin, body.expected_stdout
    from (values (start_execution.submission_id)) s (id)
    left join runledger.body on body.submission_id = s.id;
end
$$;
comment on function runledger.start_execution is 'Appends execution.started and returns what is to be run (code is null when the body is gone); repeated with the same data.run it returns the same. No row: the submission has ended, or runs on a live worker. RL005: this worker was given up and must register under a new id.';
