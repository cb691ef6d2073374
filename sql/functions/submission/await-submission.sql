-- Asks to be told of a submission's end.

create or replace function runledger.await_submission(submission_id uuid, told_to text default null) returns void
language sql security definer set search_path = ''
as $$
  update runledger.pending set
    awaited = pending.awaited or await_submission.told_to is null,
    told_to = case
      when await_submission.told_to is null then pending.told_to
      else array_append(pending.told_to, await_submission.told_to)
    end
  where pending.submission_id = await_submission.submission_id
    and not case
      when await_submission.told_to is null then pending.awaited
      else await_submission.told_to = any (coalesce(pending.told_to, '{}'))
    end
$$;
comment on function runledger.await_submission is 'Asks to be told when the submission ends: on the channel told_to, or without one on submission_finished. Read its state after this call, not before.';
