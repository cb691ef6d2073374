-- Ends a submission with what its program did, and tells whoever waits afterwards, in a transaction that writes nothing: a
-- NOTIFY holds a lock of the whole cluster until its transaction is on disk, so that commits with one come one after
-- another. He looks for himself once a second, so a crash between the two costs him that.
--
-- No security definer, nor a search_path of its own: a procedure that has either must not commit.
create or replace procedure runledger.conclude_execution(
  submission_id uuid,
  started_version integer,
  schema_version integer,
  data jsonb,
  metadata jsonb,
  stdout bytea,
  stderr bytea,
  compile_output bytea,
  run text
)
language plpgsql
as $$
declare
  _waiter record;
begin
  select * into _waiter from runledger.store_completion(
    submission_id, started_version, schema_version, data, metadata, stdout, stderr, compile_output, run
  );
  commit;
  if _waiter.awaited or _waiter.told_to is not null then
    perform runledger.tell_end(submission_id, _waiter.awaited, _waiter.told_to);
  end if;
end
$$;
comment on procedure runledger.conclude_execution is 'store_completion in a transaction, and when that is on disk the word to who waits, in another.';
