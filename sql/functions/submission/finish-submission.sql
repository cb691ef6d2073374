-- What follows from a terminal event, in its transaction.

create or replace function runledger.finish_submission(submission_id uuid, slot_seconds double precision default null)
returns text[]
language plpgsql
as $$
declare
  _pending record;
  _webhook_id uuid;
begin
  delete from runledger.pending
  using runledger.api_key k, runledger.tier
  where pending.submission_id = finish_submission.submission_id
    and k.id = pending.api_key_id and tier.name = k.tier
  returning
    pending.api_key_id, pending.told_to, tier.concurrent_executions is not null as is_limited,
    k.account_id, tier.weight, pending.turn, pending.charge
  into _pending;
  if not found then
    -- Removed by hand.
    select r.api_key_id, null::text[] as told_to, true as is_limited,
      null::uuid as account_id, 1 as weight, null::bigint as turn, null::bigint as charge
    into strict _pending
    from runledger.result r where r.id = finish_submission.submission_id;
  end if;
  if _pending.is_limited then
    perform runledger.admit_waiting(_pending.api_key_id);
  end if;

  update runledger.delivery set state = 'pending', due_at = now()
  where delivery.submission_id = finish_submission.submission_id and delivery.state = 'waiting'
  returning delivery.webhook_id into _webhook_id;
  if found then
    perform job.enqueue_deliver(_webhook_id, now());
  end if;

  -- Last, as it is not rolled back: what fails before, is done again.
  perform job.settle_turn(
    _pending.account_id, _pending.weight, _pending.turn, _pending.charge,
    coalesce(finish_submission.slot_seconds, job.measure_slot(finish_submission.submission_id))
  );
  return _pending.told_to;
end
$$;
comment on function runledger.finish_submission is 'Admits the key''s next waiting submissions, enqueues the webhook. Returns the channels of who waits for the end, to be told by runledger.tell_end; null: nobody does. slot_seconds: for so long its attempt had a slot; null: as the log''s times say (job.measure_slot).';
