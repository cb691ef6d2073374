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
  report bytea default null
) returns text[]
language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  _previous record;
  _version integer := store_completion.started_version + 1;
  _type text := 'execution.completed';
  _data jsonb := store_completion.data;
  _recorded_at timestamptz;
begin
  -- Starts are not waited for on disk: a crash may have given this version to another attempt.
  select coalesce(asked.hash, started.hash) as hash, asked.hash is not null as is_cancelled into _previous
  from runledger.event started
  left join runledger.event asked
    on asked.stream_id = store_completion.submission_id and asked.stream_version = store_completion.started_version + 1
      and asked.type = 'submission.cancel_requested'
  where started.stream_id = store_completion.submission_id
    and started.stream_version = store_completion.started_version
    and (
      store_completion.run is null
      or started.type = 'execution.started' and started.data ->> 'run' = store_completion.run
    );
  if not found then
    raise exception 'submission % has no such attempt', store_completion.submission_id using errcode = 'RL006';
  end if;

  -- Whichever stands there first decides: asked for, it is cancelled, however the program ended.
  if _previous.is_cancelled then
    _version := _version + 1;
    _type := 'submission.cancelled';
    _data := _data - 'verdict';
  elsif _data ->> 'verdict' is null then
    raise exception 'submission % was stopped and nobody has cancelled it', store_completion.submission_id
      using errcode = 'RL009';
  end if;

  _recorded_at := runledger.append_event(
    store_completion.submission_id, _version, _type, store_completion.schema_version, _data, store_completion.metadata,
    _previous.hash
  );
  update runledger.body
  set stdout = store_completion.stdout,
    stderr = store_completion.stderr,
    compile_output = store_completion.compile_output,
    report = store_completion.report
  where body.submission_id = store_completion.submission_id;
  perform runledger.apply_event(store_completion.submission_id, _version, _type, _data, _recorded_at);
  return runledger.finish_submission(store_completion.submission_id, (_data ->> 'slot_seconds')::double precision);
end
$$;
comment on function runledger.store_completion is 'Appends execution.completed after the execution.started of the given version and run; or, where submission.cancel_requested follows that, submission.cancelled with the same data but the verdict. 23505: another event stands there, this attempt was given up and its result must be dropped, unless its end was asked for just now: the same call again tells. RL009: data has no verdict, and nobody asked for the end. RL006: there is no such start, a crash of the server has lost it: the submission is to be started again. Returns as runledger.finish_submission.';
