-- Cancels, then tells whoever it concerns, in a transaction that writes nothing (conclude-execution.sql says why). A word
-- that is lost is made up for: waiters look once a second, workers whenever they renew their lease.
--
-- A procedure that commits may have neither security definer nor a search_path.
create or replace procedure runledger.cancel_submission(
  submission_id uuid,
  account_id uuid,
  metadata jsonb,
  inout state text default null
)
language plpgsql
as $$
declare
  _cancel record;
begin
  select * into _cancel from runledger.store_cancel(submission_id, account_id, metadata);
  commit;
  state := _cancel.state;
  if state = 'requested' then
    perform pg_notify('runledger_cancel', submission_id::text);
  elsif _cancel.told_to is not null then
    perform runledger.tell_end(submission_id, _cancel.told_to);
  end if;
end
$$;
comment on procedure runledger.cancel_submission is 'store_cancel in a transaction, and when that is on disk the word to the worker that runs it, or to who waits for its end, in another. state: as store_cancel.';
