-- Restores the projections from the log, while the service runs: for submissions whose rows may be wrong, and for all of them in a
-- rebuild. audit.drift says which rows are wrong.

create or replace function runledger.rebuild_batch(after uuid, batch integer)
returns table (last uuid, submissions integer, repaired integer)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _up_to uuid;
  _ids uuid[];
  _reruns uuid[];
  _deliveries uuid[];
begin
  select e.stream_id into last from runledger.event e
  where e.type = 'submission.received' and e.stream_id > rebuild_batch.after
  order by e.stream_id offset rebuild_batch.batch - 1 limit 1;
  -- After the log's last submission, this covers the rows that the log does not have.
  _up_to := coalesce(last, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  select count(*) into submissions from runledger.event e
  where e.type = 'submission.received' and e.stream_id > rebuild_batch.after and e.stream_id <= _up_to;
  _ids := array(select distinct d.id from audit.drift d where d.id > rebuild_batch.after and d.id <= _up_to);
  repaired := runledger.refresh_submissions(_ids);

  perform from runledger.delivery d where d.submission_id = any (_ids) order by d.submission_id for update;
  select
    array_agg(d.id) filter (where d.projection = 'rerun'), array_agg(d.id) filter (where d.projection = 'delivery')
  into _reruns, _deliveries
  from audit.drift d
  where d.id = any (_ids) and d.projection in ('rerun', 'delivery');
  delete from runledger.rerun x where x.submission_id = any (_reruns);
  insert into runledger.rerun (submission_id, rerun_of, campaign)
  select derived.submission_id, derived.rerun_of, derived.campaign
  from runledger.rerun_from_log derived
  where derived.submission_id = any (_reruns)
  on conflict do nothing;

  delete from runledger.delivery d
  where d.submission_id = any (_deliveries)
    and not exists (select from runledger.delivery_from_log derived where derived.submission_id = d.submission_id);
  -- The log has neither the address nor the secret of a lost row. audit.invariant shows such webhooks.
  insert into runledger.delivery as d (submission_id, webhook_id, attempts, state, due_at)
  select
    derived.submission_id, derived.webhook_id, derived.attempts, derived.state,
    case when derived.state = 'pending' then now() end
  from runledger.delivery_from_log derived
  where derived.submission_id = any (_deliveries)
  on conflict (submission_id) do update set
    webhook_id = excluded.webhook_id, attempts = excluded.attempts, state = excluded.state,
    secret = case when excluded.state in ('waiting', 'pending') then d.secret end,
    due_at = coalesce(case when excluded.state = 'pending' then d.due_at end, excluded.due_at);
  repaired := repaired + coalesce(cardinality(_reruns), 0) + coalesce(cardinality(_deliveries), 0);
  return next;
end
$$;
comment on function runledger.rebuild_batch is 'Rebuilds the projections of the next submissions after the given id from the log; returns the last id (null: these were the last), the number of submissions in the log, and the number of repaired rows.';

create or replace function runledger.refresh_submissions(submission_ids uuid[]) returns integer
language plpgsql
as $$
declare
  _ids constant uuid[] := refresh_submissions.submission_ids;
  _pending uuid[];
  _results uuid[];
begin
  -- Most sweeps find none, and planning the statements below takes milliseconds.
  if _ids = '{}' then
    return 0;
  end if;
  -- The rows are locked first and the next statement reads the log, so it sees earlier writers, and later writers wait.
  perform from runledger.pending p where p.submission_id = any (_ids) order by p.submission_id for update;
  perform from runledger.result r where r.id = any (_ids) order by r.id for update;
  select
    array_agg(d.id) filter (where d.projection = 'pending'), array_agg(d.id) filter (where d.projection = 'result')
  into _pending, _results
  from audit.drift d
  where d.id = any (_ids) and d.projection in ('pending', 'result');
  with wrong as (
    delete from runledger.pending p where p.submission_id = any (_pending)
    returning p.*
  )
  insert into runledger.pending
  select
    derived.*,
    -- The log does not have these columns. A running submission was admitted, and so is one whose key has no limit; the
    -- reconciler admits the others. The job has the position.
    coalesce(wrong.admitted, derived.is_running or tier.concurrent_executions is null),
    case
      when wrong.submission_id is not null then wrong.position
      when not derived.is_low and j.run_at < timestamptz '2020-01-01 00:00Z' then (extract(epoch from j.run_at) * 1000000)::bigint
    end,
    wrong.waiters, coalesce(wrong.is_parked, false)
  from runledger.pending_from_log derived
  -- The join makes PostgreSQL delete a wrong row before it inserts the right one.
  left join wrong on wrong.submission_id = derived.submission_id
  left join runledger.api_key k on k.id = derived.api_key_id
  left join runledger.tier on tier.name = k.tier
  left join graphile_worker.jobs j on j.key = derived.submission_id::text
  where derived.submission_id = any (_pending)
  on conflict do nothing;
  delete from runledger.result r where r.id = any (_results);
  insert into runledger.result select derived.* from runledger.result_from_log derived where derived.id = any (_results)
  on conflict do nothing;
  return coalesce(cardinality(_pending), 0) + coalesce(cardinality(_results), 0);
end
$$;
comment on function runledger.refresh_submissions is 'Makes the rows of runledger.pending and runledger.result of these submissions equal to the log; returns how many rows differed.';
