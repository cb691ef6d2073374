-- Takes back a lost attempt: the submission runs again, or is given up; or has ended, when its caller has cancelled it.

create or replace function runledger.interrupt_execution(
  submission_id uuid,
  started_version integer,
  schema_version integer,
  data jsonb,
  metadata jsonb,
  max_losses integer,
  run text default null
) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _losses integer;
  _told_to text[];
begin
  -- A crash of the server may have forgotten this run's attempt (runledger.start).
  if interrupt_execution.run is not null and not exists (
    select from runledger.event
    where event.stream_id = interrupt_execution.submission_id
      and event.stream_version = interrupt_execution.started_version
      and event.data ->> 'run' = interrupt_execution.run
  ) then
    raise exception 'submission % has no such attempt', interrupt_execution.submission_id using errcode = 'RL006';
  end if;
  if exists (
    select from runledger.event
    where event.stream_id = interrupt_execution.submission_id
      and event.stream_version = interrupt_execution.started_version + 1
      and event.type = 'submission.cancel_requested'
  ) then
    _told_to := runledger.end_cancelled(
      interrupt_execution.submission_id, interrupt_execution.started_version + 2,
      jsonb_build_object('lost', interrupt_execution.data -> 'reason'), interrupt_execution.metadata
    );
    perform runledger.tell_end(interrupt_execution.submission_id, _told_to);
    return false;
  end if;
  perform runledger.append_event(
    interrupt_execution.submission_id, interrupt_execution.started_version + 1, 'execution.interrupted',
    interrupt_execution.schema_version, interrupt_execution.data, interrupt_execution.metadata
  );
  select count(*) into _losses
  from runledger.event
  where event.stream_id = interrupt_execution.submission_id
    and event.type = 'execution.interrupted'
    and (event.data ->> 'spends_attempt')::boolean;

  if _losses >= interrupt_execution.max_losses then
    perform runledger.append_event(
      interrupt_execution.submission_id, interrupt_execution.started_version + 2, 'execution.abandoned', 1,
      jsonb_build_object('losses', _losses), interrupt_execution.metadata
    );
    perform runledger.refresh_result(interrupt_execution.submission_id);
    _told_to := (select f.told_to from runledger.finish_submissions(array[interrupt_execution.submission_id]) f);
    perform runledger.tell_end(interrupt_execution.submission_id, _told_to);
    return false;
  end if;

  perform runledger.refresh_result(interrupt_execution.submission_id);
  perform job.enqueue_execution(
    interrupt_execution.submission_id,
    -- The first loss is mostly a deploy or our crash: no delay. Lost again, it may be the cause.
    case when (interrupt_execution.data ->> 'spends_attempt')::boolean then greatest(_losses - 1, 0)::integer else 0 end,
    is_given_back => true
  );
  return true;
end
$$;
comment on function runledger.interrupt_execution is 'Appends execution.interrupted and enqueues the next attempt (true), or appends execution.abandoned when max_losses attempts were lost, or, after submission.cancel_requested, submission.cancelled alone (false). 23505: somebody else ended this attempt, or asked for its end just now: the same call again tells. RL006: the attempt of this run is not in the log.';
