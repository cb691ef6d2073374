-- Asks to be told of a submission's end.

create or replace function runledger.await_submission(submission_id uuid, told_to text) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  update runledger.pending set told_to = array_append(pending.told_to, await_submission.told_to)
  where pending.submission_id = await_submission.submission_id
    and await_submission.told_to <> all (coalesce(pending.told_to, '{}'))
$$;
comment on function runledger.await_submission is 'Asks to be told on the channel told_to when the submission ends (runledger.tell_end). Read its state after this call, not before.';
