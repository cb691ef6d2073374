-- conclude_execution for several ends, which share a commit. They share the word to who waits, too.

create or replace procedure runledger.conclude_several(ends jsonb, inout refusals jsonb)
language plpgsql
as $$
declare
  _stored record;
begin
  -- Nobody waits for what another one of them waits for, and two calls never for each other.
  perform set_config('lock_timeout', '10ms', true);
  select * into _stored from runledger.store_ends(array(
    select row(
      e.submission_id, e.started_version, e.schema_version, e.data, e.metadata, decode(e.stdout, 'base64'),
      decode(e.stderr, 'base64'), decode(e.compile_output, 'base64'), e.run, decode(e.report, 'base64')
    )::runledger.attempt_end
    from jsonb_to_recordset(ends) e (
      submission_id uuid, started_version integer, schema_version integer, data jsonb, metadata jsonb, stdout text, stderr text,
      compile_output text, run text, report text
    )
  ));
  refusals := to_jsonb(_stored.refusals);
  commit;
  if _stored.told is not null then
    perform runledger.tell_end(told.submission_id, told.told_to)
    from jsonb_to_recordset(_stored.told) told (submission_id uuid, told_to text[]);
  end if;
end
$$;
comment on procedure runledger.conclude_several is 'runledger.store_ends (each an object, its bodies in base64) in a transaction, and when that is on disk the word to who waits, in another. refusals: as that has them. 55P03: one would have had to wait; nothing was written of any.';
