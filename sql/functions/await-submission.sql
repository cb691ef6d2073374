-- Says that somebody waits for a submission, so that its end is notified.

create or replace function runledger.await_submission(submission_id uuid) returns void
language sql security definer set search_path = ''
as $$
  update runledger.pending set awaited = true
  where pending.submission_id = await_submission.submission_id and not pending.awaited
$$;
comment on function runledger.await_submission is 'Asks for a notification on channel submission_finished when the submission ends. Read its state after this call, not before.';
