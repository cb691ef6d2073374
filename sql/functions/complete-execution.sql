-- Ends a submission with what its program did: log, bodies, projection and what follows in one transaction.
--
-- Whoever waits is told afterwards: a NOTIFY holds a lock of the whole cluster until its transaction is on disk, so that
-- commits with one come one after another. He looks for himself once a second, so a crash between the two costs him that.

drop function if exists runledger.complete_execution(uuid, integer, integer, jsonb, jsonb, bytea, bytea, bytea);

create or replace function runledger.end_execution(
  submission_id uuid,
  started_version integer,
  schema_version integer,
  data jsonb,
  metadata jsonb,
  stdout bytea,
  stderr bytea,
  compile_output bytea,
  run text
) returns boolean
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
  where event.stream_id = end_execution.submission_id
    and event.stream_version = end_execution.started_version
    and (
      end_execution.run is null
      or event.type = 'execution.started' and event.data ->> 'run' = end_execution.run
    );
  if not found then
    raise exception 'submission % has no such attempt', end_execution.submission_id using errcode = 'RL006';
  end if;

  _recorded_at := runledger.append_event(
    end_execution.submission_id, end_execution.started_version + 1, 'execution.completed',
    end_execution.schema_version, end_execution.data, end_execution.metadata, _previous_hash
  );
  update runledger.body
  set stdout = end_execution.stdout,
    stderr = end_execution.stderr,
    compile_output = end_execution.compile_output
  where body.submission_id = end_execution.submission_id;
  -- What runledger.result_from_log makes of this event after the start.
  update runledger.result r
  set version = end_execution.started_version + 1,
    status = 'completed',
    verdict = end_execution.data ->> 'verdict',
    exit_code = (end_execution.data ->> 'exit_code')::integer,
    signal = end_execution.data ->> 'signal',
    stdout_truncated = coalesce((end_execution.data #>> '{stdout,truncated}')::boolean, false),
    stderr_truncated = coalesce((end_execution.data #>> '{stderr,truncated}')::boolean, false),
    cpu_time = coalesce((end_execution.data #>> '{run,cpu_seconds}')::double precision, 0),
    wall_time = coalesce((end_execution.data #>> '{run,wall_seconds}')::double precision, 0),
    memory_peak = coalesce((end_execution.data #>> '{run,memory_peak_bytes}')::bigint, 0),
    finished_at = _recorded_at
  where r.id = end_execution.submission_id
    and r.version = end_execution.started_version
    and r.status = 'running';
  if not found then
    perform runledger.refresh_result(end_execution.submission_id);
  end if;
  return runledger.finish_submission(end_execution.submission_id);
end
$$;
comment on function runledger.end_execution is 'Appends execution.completed after the execution.started of the given version and run. 23505: another event stands there, this attempt was given up and its result must be dropped. RL006: there is no such start, a crash of the server has lost it: the submission is to be started again. Returns whether somebody waits for it, who is to be told then (runledger.notify_ends).';

-- For workers of the release before, whose connections know that it returns nothing.
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
language plpgsql security definer set search_path = ''
as $$
begin
  if runledger.end_execution(
    submission_id, started_version, schema_version, data, metadata, stdout, stderr, compile_output, run
  ) then
    perform runledger.notify_ends(array[submission_id]);
  end if;
end
$$;
comment on function runledger.complete_execution is 'end_execution, and the word to who waits in the same transaction.';
