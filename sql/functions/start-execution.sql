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
  _attempt integer;
begin
  -- The row lock serialises two deliveries of one job; a submission that has ended has no row.
  perform from runledger.pending where pending.submission_id = start_execution.submission_id for update;
  if not found then
    return;
  end if;

  select event.stream_version, event.type, (event.data ->> 'worker')::uuid as worker_id into strict _head
  from runledger.event
  where event.stream_id = start_execution.submission_id
  order by event.stream_version desc limit 1;

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

  select count(*) + 1 into _attempt
  from runledger.event
  where event.stream_id = start_execution.submission_id and event.type = 'execution.started';

  perform runledger.append_event(
    start_execution.submission_id, _head.stream_version + 1, 'execution.started', start_execution.schema_version,
    start_execution.data || jsonb_build_object('attempt', _attempt), start_execution.metadata
  );
  perform runledger.refresh_result(start_execution.submission_id);

  return query
    select _head.stream_version + 1, _attempt, body.code, body.stdin, body.expected_stdout
    from runledger.body where body.submission_id = start_execution.submission_id;
end
$$;
comment on function runledger.start_execution is 'Appends execution.started and returns what is to be run. No row: the submission has ended, or runs on a live worker.';
