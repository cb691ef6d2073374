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
  _ended runledger.ended_submission[];
  _are_limited boolean;
  _keys uuid[];
  _webhook_id uuid;
begin
  with ended as (
    delete from runledger.pending p
    using runledger.api_key k, runledger.tier
    where p.submission_id = any (finish_submissions.submission_ids) and k.id = p.api_key_id and tier.name = k.tier
    returning p.submission_id, p.told_to, k.account_id, tier.weight, p.turn, p.charge, tier.concurrent_executions
  )
  select
    array_agg(
      row(
        ended.submission_id, ended.told_to, ended.account_id, ended.weight, ended.turn, ended.charge
      )::runledger.ended_submission
    ),
    -- What is pending may have been removed by hand.
    count(*) < cardinality(finish_submissions.submission_ids) or bool_or(ended.concurrent_executions is not null)
  into _ended, _are_limited
  from ended;
  if _are_limited then
    _keys := array(
      select distinct r.api_key_id from runledger.result r where r.id = any (finish_submissions.submission_ids)
    );
    -- All before the first admits one, as no rollback gives back the turn that it is charged for: one of several keys may be
    -- another's for longer than is waited.
    perform from runledger.api_key k where k.id = any (_keys) order by k.id for no key update;
    perform runledger.admit_waiting(key.id) from unnest(_keys) key (id);
  end if;

  for _webhook_id in
    update runledger.delivery set state = 'pending', due_at = now()
    where delivery.submission_id = any (finish_submissions.submission_ids) and delivery.state = 'waiting'
    returning delivery.webhook_id
  loop
    perform job.enqueue_deliver(_webhook_id, now());
  end loop;

  -- Last, as it is not rolled back: what fails before, is done again.
  perform job.settle_turn(
    ended.account_id, ended.weight, ended.turn, ended.charge,
    coalesce(
      finish_submissions.slot_seconds[array_position(finish_submissions.submission_ids, ended.submission_id)],
      job.measure_slot(ended.submission_id)
    )
  )
  from unnest(_ended) ended;
  return query select ended.submission_id, ended.told_to from unnest(_ended) ended where ended.told_to is not null;
end
$$;
comment on function runledger.finish_submissions is 'Admits the keys'' next waiting submissions, enqueues the webhooks. Returns the channels of who waits for an end, to be told by runledger.tell_end; no row: nobody does. slot_seconds: for so long its attempt had a slot; null or none: as the log''s times say (job.measure_slot).';
