-- Ends a submission with what its program did: log, bodies, projection and what follows in one transaction.

drop function if exists runledger.complete_execution(uuid, integer, integer, jsonb, jsonb, bytea, bytea, bytea);

create or replace function runledger.complete_execution(
  submission_id uuid,
  started_version integer,
  schema_version integer,
  data jsonb,
  metadata jsonb,
  stdout bytea,
  stderr bytea,
  compile_output bytea,
  run text default null
) returns void
language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  _previous_hash bytea;
  _recorded_at timestamptz;
begin
  -- The attempt that stands there must be the one that ends: a start is not waited for to be on disk, so that a crash of
  -- the server may have given its version to another.
  select event.hash into _previous_hash
  from runledger.event
  where event.stream_id = complete_execution.submission_id
    and event.stream_version = complete_execution.started_version
    and (
      complete_execution.run is null
      or event.type = 'execution.started' and event.data ->> 'run' = complete_execution.run
    );
  if not found then
    raise exception 'submission % has no such attempt', complete_execution.submission_id using errcode = 'RL006';
  end if;

  _recorded_at := runledger.append_event(
    complete_execution.submission_id, complete_execution.started_version + 1, 'execution.completed',
    complete_execution.schema_version, complete_execution.data, complete_execution.metadata, _previous_hash
  );
  update runledger.body
  set stdout = complete_execution.stdout,
    stderr = complete_execution.stderr,
    compile_output = complete_execution.compile_output
  where body.submission_id = complete_execution.submission_id;
  -- What runledger.result_from_log makes of this event after the start.
  update runledger.result r
  set version = complete_execution.started_version + 1,
    status = 'completed',
    verdict = complete_execution.data ->> 'verdict',
    exit_code = (complete_execution.data ->> 'exit_code')::integer,
    signal = complete_execution.data ->> 'signal',
    stdout_truncated = coalesce((complete_execution.data #>> '{stdout,truncated}')::boolean, false),
    stderr_truncated = coalesce((complete_execution.data #>> '{stderr,truncated}')::boolean, false),
    cpu_time = coalesce((complete_execution.data #>> '{run,cpu_seconds}')::double precision, 0),
    wall_time = coalesce((complete_execution.data #>> '{run,wall_seconds}')::double precision, 0),
    memory_peak = coalesce((complete_execution.data #>> '{run,memory_peak_bytes}')::bigint, 0),
    finished_at = _recorded_at
  where r.id = complete_execution.submission_id
    and r.version = complete_execution.started_version
    and r.status = 'running';
  if not found then
    perform runledger.refresh_result(complete_execution.submission_id);
  end if;
  perform runledger.finish_submission(complete_execution.submission_id);
end
$$;
comment on function runledger.complete_execution is 'Appends execution.completed after the execution.started of the given version and run. 23505: another event stands there, this attempt was given up and its result must be dropped. RL006: there is no such start, a crash of the server has lost it: the submission is to be started again.';
