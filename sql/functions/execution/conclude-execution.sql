-- Ends a submission, then tells whoever waits, in a transaction that writes nothing: NOTIFY holds a lock of the whole
-- cluster until its transaction is on disk, so commits with one queue up. Waiters also look once a second, if a crash
-- comes between.
--
-- A procedure that commits may have neither security definer nor a search_path.
create or replace procedure runledger.conclude_execution(
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
)
language plpgsql
as $$
declare
  _told_to text[];
begin
  _told_to := runledger.store_completion(
    submission_id, started_version, schema_version, data, metadata, stdout, stderr, compile_output, run, report
  );
  commit;
  -- Else nothing follows, and no other transaction.
  if _told_to is not null then
    perform runledger.tell_end(submission_id, _told_to);
  end if;
end
$$;
comment on procedure runledger.conclude_execution is 'store_completion in a transaction, and when that is on disk the word to who waits, in another.';
