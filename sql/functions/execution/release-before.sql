-- Called only by workers of earlier releases, while a new one goes out.

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
language plpgsql security definer set search_path = ''
as $$
declare
  _waiter record;
begin
  select * into _waiter from runledger.store_completion(
    submission_id, started_version, schema_version, data, metadata, stdout, stderr, compile_output, run
  );
  perform runledger.tell_end(submission_id, false, _waiter.told_to);
  return _waiter.awaited;
end
$$;
comment on function runledger.end_execution is 'store_completion and tell_end; returns whether somebody waits who is still to be told, by runledger.notify_ends.';

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
declare
  _waiter record;
begin
  select * into _waiter from runledger.store_completion(
    submission_id, started_version, schema_version, data, metadata, stdout, stderr, compile_output, run
  );
  perform runledger.tell_end(submission_id, _waiter.awaited, _waiter.told_to);
end
$$;
comment on function runledger.complete_execution is 'store_completion, and the word to who waits in the same transaction.';

create or replace function runledger.notify_ends(submissions uuid[]) returns void
language sql security definer set search_path = ''
as $$
  select pg_notify('submission_finished', id::text) from unnest(notify_ends.submissions) submission (id)
$$;
comment on function runledger.notify_ends is 'Tells who waits for them that these submissions have ended.';
