-- What follows from terminal events, in their transaction.

create or replace function runledger.finish_submissions(submission_ids uuid[])
returns table (submission_id uuid, told_to text[])
language plpgsql set plan_cache_mode = force_generic_plan
-- As runledger.apply_events.
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  _waited jsonb;
  _are_limited boolean;
  _keys uuid[];
  _webhook_id uuid;
begin
  with ended as (
    delete from runledger.pending p
    using runledger.api_key k, runledger.tier
    where p.submission_id = any (finish_submissions.submission_ids) and k.id = p.api_key_id and tier.name = k.tier
    returning p.submission_id, p.told_to, tier.concurrent_executions
  )
  select
    jsonb_agg(jsonb_build_object('submission_id', ended.submission_id, 'told_to', ended.told_to))
      filter (where ended.told_to is not null),
    -- What is pending may have been removed by hand.
    count(*) < cardinality(finish_submissions.submission_ids) or bool_or(ended.concurrent_executions is not null)
  into _waited, _are_limited
  from ended;
  if _are_limited then
    _keys := array(
      select distinct r.api_key_id from runledger.result r where r.id = any (finish_submissions.submission_ids)
    );
    -- All before the first admits one: in one order, so that two calls never wait for each other.
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
  return query
    select waited.submission_id, waited.told_to
    from jsonb_to_recordset(_waited) waited (submission_id uuid, told_to text[]);
end
$$;
comment on function runledger.finish_submissions is 'What follows from the ends of these submissions: the keys'' next waiting ones are admitted, the webhooks enqueued. Returns the channels of who waits for an end, to be told by runledger.tell_end; no row: nobody does.';
