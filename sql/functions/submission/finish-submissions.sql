-- What follows from terminal events, in their transaction.

create or replace function runledger.finish_submissions(
  submission_ids uuid[],
  slot_seconds double precision[] default '{}'
) returns table (submission_id uuid, told_to text[])
language plpgsql set plan_cache_mode = force_generic_plan
-- As runledger.apply_events.
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  _ended runledger.pending[];
  _webhook_id uuid;
begin
  with ended as (
    delete from runledger.pending p where p.submission_id = any (finish_submissions.submission_ids) returning p
  )
  select array_agg(ended.p) into _ended from ended;

  -- By the result: what is pending may have been removed by hand.
  perform runledger.admit_waiting(k.id)
  from runledger.api_key k
  join runledger.tier on tier.name = k.tier
  where tier.concurrent_executions is not null
    and k.id in (select r.api_key_id from runledger.result r where r.id = any (finish_submissions.submission_ids));

  for _webhook_id in
    update runledger.delivery set state = 'pending', due_at = now()
    where delivery.submission_id = any (finish_submissions.submission_ids) and delivery.state = 'waiting'
    returning delivery.webhook_id
  loop
    perform job.enqueue_deliver(_webhook_id, now());
  end loop;

  -- Last, as it is not rolled back: what fails before, is done again.
  perform job.settle_turn(
    k.account_id, tier.weight, ended.turn, ended.charge, coalesce(given.seconds, job.measure_slot(ended.submission_id))
  )
  from unnest(_ended) ended
  join unnest(finish_submissions.submission_ids, finish_submissions.slot_seconds) given (id, seconds)
    on given.id = ended.submission_id
  join runledger.api_key k on k.id = ended.api_key_id
  join runledger.tier on tier.name = k.tier
  where ended.charge is not null;
  return query select ended.submission_id, ended.told_to from unnest(_ended) ended where ended.told_to is not null;
end
$$;
comment on function runledger.finish_submissions is 'Admits the keys'' next waiting submissions, enqueues the webhooks. Returns the channels of who waits for an end, to be told by runledger.tell_end; no row: nobody does. slot_seconds: for so long its attempt had a slot; null or none: as the log''s times say (job.measure_slot).';
