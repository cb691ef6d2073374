-- Asks to be notified of a submission's end.

create or replace function runledger.await_submission(submission_id uuid, waiter text) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  update runledger.pending set waiters = array_append(pending.waiters, await_submission.waiter)
  where pending.submission_id = await_submission.submission_id
    and await_submission.waiter <> all (coalesce(pending.waiters, '{}'))
$$;
comment on function runledger.await_submission is 'Asks for a notification on the channel waiter when the submission has ended. Read its state after this call, not before.';
