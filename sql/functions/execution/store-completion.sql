-- Ends one submission by itself.

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
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _stored record;
begin
  select * into _stored
  from runledger.store_ends(array[row(
    store_completion.submission_id, store_completion.started_version, store_completion.schema_version,
    store_completion.data, store_completion.metadata, store_completion.stdout, store_completion.stderr,
    store_completion.compile_output, store_completion.run, store_completion.report
  )::runledger.attempt_end]);
  if _stored.refusals[1] is not null then
    raise exception 'submission % cannot be ended so', store_completion.submission_id using errcode = _stored.refusals[1];
  end if;
  return (select told.told_to from jsonb_to_recordset(_stored.told) told (told_to text[]));
end
$$;
comment on function runledger.store_completion is 'runledger.store_ends of one end; fails with its refusal. Returns the channels of who waits for the end, to be told by runledger.tell_end; null: nobody does.';
