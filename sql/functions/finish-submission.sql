-- What follows from a terminal event, in its transaction: projection, the key's next submission, webhook, wake-up.

create or replace function runledger.finish_submission(submission_id uuid) returns void
language plpgsql security definer set search_path = ''
as $$
declare
  _api_key_id uuid;
  _awaited boolean;
  _webhook_id uuid;
begin
  perform runledger.refresh_result(finish_submission.submission_id);

  delete from runledger.pending
  where pending.submission_id = finish_submission.submission_id
  returning pending.api_key_id, pending.awaited into _api_key_id, _awaited;
  if not found then
    -- Somebody removed the row by hand. The end counts all the same, and whoever waits is told.
    select r.api_key_id, true into strict _api_key_id, _awaited
    from runledger.result r where r.id = finish_submission.submission_id;
  end if;

  if (
    select tier.concurrent_executions is not null
    from runledger.api_key k
    join runledger.tier on tier.name = k.tier
    where k.id = _api_key_id
  ) then
    perform runledger.admit_waiting(_api_key_id);
  end if;

  update runledger.delivery set state = 'pending', due_at = now()
  where delivery.submission_id = finish_submission.submission_id and delivery.state = 'waiting'
  returning delivery.webhook_id into _webhook_id;
  if found then
    perform job.enqueue_deliver(_webhook_id, now());
  end if;

  if _awaited then
    perform pg_notify('submission_finished', finish_submission.submission_id::text);
  end if;
end
$$;
comment on function runledger.finish_submission is 'Refreshes the result, admits the key''s next waiting submissions, enqueues the webhook, wakes who waits.';
