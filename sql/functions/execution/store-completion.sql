-- Ends a submission: log, bodies, projection and what follows, in one transaction.

create or replace function runledger.store_completion(
  submission_id uuid,
  started_version integer,
  schema_version integer,
  data jsonb,
  metadata jsonb,
  stdout bytea,
  stderr bytea,
  compile_output bytea,
  run text,
  report bytea default null,
  out awaited boolean,
  out told_to text[]
)
language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  _previous_hash bytea;
  _recorded_at timestamptz;
begin
  -- Starts are not waited for on disk: a crash may have given this version to another attempt.
  select event.hash into _previous_hash
  from runledger.event
  where event.stream_id = store_completion.submission_id
    and event.stream_version = store_completion.started_version
    and (
      store_completion.run is null
      or event.type = 'execution.started' and event.data ->> 'run' = store_completion.run
    );
  if not found then
    raise exception 'submission % has no such attempt', store_completion.submission_id using errcode = 'RL006';
  end if;

  _recorded_at := runledger.append_event(
    store_completion.submission_id, store_completion.started_version + 1, 'execution.completed',
    store_completion.schema_version, store_completion.data, store_completion.metadata, _previous_hash
  );
  update runledger.body
  set stdout = store_completion.stdout,
    stderr = store_completion.stderr,
    compile_output = store_completion.compile_output,
    report = store_completion.report
  where body.submission_id = store_completion.submission_id;
  perform runledger.apply_event(
    store_completion.submission_id, store_completion.started_version + 1, 'execution.completed',
    store_completion.data, _recorded_at
  );
  select finished.awaited, finished.told_to into store_completion.awaited, store_completion.told_to
  from runledger.finish_submission(store_completion.submission_id) finished;
end
$$;
comment on function runledger.store_completion is 'Appends execution.completed after the execution.started of the given version and run. 23505: another event stands there, this attempt was given up and its result must be dropped. RL006: there is no such start, a crash of the server has lost it: the submission is to be started again. Returns who waits for it, to be told by runledger.tell_end when this is committed.';
