-- Ends a submission with what its program did: log, bodies, projection and what follows in one transaction.

create or replace function runledger.complete_execution(
  submission_id uuid,
  started_version integer,
  schema_version integer,
  data jsonb,
  metadata jsonb,
  stdout bytea,
  stderr bytea,
  compile_output bytea
) returns void
language plpgsql security definer set search_path = ''
as $$
begin
  perform runledger.append_event(
    complete_execution.submission_id, complete_execution.started_version + 1, 'execution.completed',
    complete_execution.schema_version, complete_execution.data, complete_execution.metadata
  );
  update runledger.body
  set stdout = complete_execution.stdout,
    stderr = complete_execution.stderr,
    compile_output = complete_execution.compile_output
  where body.submission_id = complete_execution.submission_id;
  perform runledger.finish_submission(complete_execution.submission_id);
end
$$;
comment on function runledger.complete_execution is 'Appends execution.completed after the execution.started of the given version. 23505: another event stands there, this attempt was given up and its result must be dropped.';
