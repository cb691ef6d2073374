-- Projections made anew from the log, a step at a time.

-- Steps through the log's submissions.

create or replace function runledger.find_next_submissions(after uuid, batch integer, out last uuid, out submissions integer)
language sql
as $$
  select (array_agg(id order by id desc))[1], count(*)::integer
  from (
    select e.stream_id as id from runledger.event e
    where e.type = 'submission.received' and e.stream_id > find_next_submissions.after
    order by e.stream_id limit find_next_submissions.batch
  ) received
$$;
comment on function runledger.find_next_submissions is 'The last of the next so many submissions after the given id, as the log has them, and how many there are; null and 0 when there is none. Called by functions that run as the owner.';

-- Rebuilds some projections while the service runs. Rows are locked first, the log is read in a later statement:
-- earlier writers are seen, later ones wait and see more of the log.

create or replace function runledger.rebuild_batch(after uuid, batch integer)
returns table (last uuid, submissions integer, repaired integer)
language plpgsql security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC'
as $$
declare
  _ids uuid[];
  _count integer;
begin
  select next.last, next.submissions into last, submissions
  from runledger.find_next_submissions(rebuild_batch.after, rebuild_batch.batch) next;
  repaired := 0;

  insert into runledger.result
  select * from runledger.result_from_log derived
  where derived.id > rebuild_batch.after and derived.id <= last
    and not exists (select from runledger.result r where r.id = derived.id)
  on conflict do nothing;
  get diagnostics _count = row_count;
  repaired := repaired + _count;

  -- Rows after the log's last submission are unknown to it.
  _ids := array(
    select r.id from runledger.result r
    where r.id > rebuild_batch.after and (r.id <= last or submissions < rebuild_batch.batch)
    order by r.id for update
  );
  perform from runledger.delivery d
  where d.submission_id > rebuild_batch.after and (d.submission_id <= last or submissions < rebuild_batch.batch)
  order by d.submission_id for update;

  update runledger.result r set
    account_id = derived.account_id, api_key_id = derived.api_key_id, version = derived.version,
    status = derived.status, verdict = derived.verdict, language = derived.language, runtime = derived.runtime,
    exit_code = derived.exit_code, signal = derived.signal, stdout_truncated = derived.stdout_truncated,
    stderr_truncated = derived.stderr_truncated, cpu_time = derived.cpu_time, wall_time = derived.wall_time,
    memory_peak = derived.memory_peak, created_at = derived.created_at, started_at = derived.started_at,
    finished_at = derived.finished_at, purged_at = derived.purged_at, tag = derived.tag,
    output_encoding = derived.output_encoding, exceeded = derived.exceeded, compile = derived.compile,
    rerun_of = derived.rerun_of, slot_seconds = derived.slot_seconds
  from runledger.result_from_log derived
  where derived.id = any (_ids) and r.id = derived.id and r is distinct from derived;
  get diagnostics _count = row_count;
  repaired := repaired + _count;
  delete from runledger.result r
  where r.id = any (_ids)
    and not exists (
      select from runledger.event e where e.stream_id = r.id and runledger.closes_submission(e.type)
    );
  get diagnostics _count = row_count;
  repaired := repaired + _count;

  repaired := repaired + runledger.restore_reruns(
    rebuild_batch.after, case when submissions = rebuild_batch.batch then last end
  );
  repaired := repaired + runledger.restore_pending(rebuild_batch.after, last);
  _ids := _ids || array(
    select p.submission_id from runledger.pending p where p.submission_id > rebuild_batch.after and p.submission_id <= last
  );
  select count(*) filter (where runledger.refresh_submission(p.submission_id)) into _count
  from runledger.pending p
  where p.submission_id > rebuild_batch.after and (p.submission_id <= last or submissions < rebuild_batch.batch);
  repaired := repaired + _count;

  update runledger.delivery d set
    webhook_id = derived.webhook_id, attempts = derived.attempts, state = derived.state,
    secret = case when derived.state in ('waiting', 'pending') then d.secret end,
    due_at = case when derived.state = 'pending' then coalesce(d.due_at, now()) end
  from runledger.delivery_from_log derived
  where derived.submission_id = any (_ids) and d.submission_id = derived.submission_id
    and (d.webhook_id, d.attempts, d.state) is distinct from (derived.webhook_id, derived.attempts, derived.state);
  get diagnostics _count = row_count;
  repaired := repaired + _count;
  -- The address and secret of a lost row are lost; audit.invariant shows such webhooks.
  insert into runledger.delivery (submission_id, webhook_id, attempts, state, due_at)
  select
    derived.submission_id, derived.webhook_id, derived.attempts, derived.state,
    case when derived.state = 'pending' then now() end
  from runledger.delivery_from_log derived
  where derived.submission_id = any (_ids)
    and not exists (select from runledger.delivery d where d.submission_id = derived.submission_id)
  on conflict do nothing;
  get diagnostics _count = row_count;
  repaired := repaired + _count;

  delete from runledger.delivery d
  where d.submission_id > rebuild_batch.after and (d.submission_id <= last or submissions < rebuild_batch.batch)
    and not exists (
      select from runledger.event e where e.stream_id = d.submission_id and e.type = 'submission.received'
    );
  get diagnostics _count = row_count;
  repaired := repaired + _count;
  return next;
end
$$;
comment on function runledger.rebuild_batch is 'Makes the projections of the next submissions after the given id anew from the log; returns the last id, how many the log has, and how many rows were not as they should be. Fewer than `batch`: that was the last.';

-- What the log says of reruns, put back.

create or replace function runledger.restore_reruns(after uuid, up_to uuid) returns integer
language plpgsql
as $$
declare
  _removed uuid[];
  _restored uuid[];
begin
  -- First, as a wrong row may stand where a right one belongs.
  with removed as (
    delete from runledger.rerun x
    where x.submission_id > restore_reruns.after
      and (restore_reruns.up_to is null or x.submission_id <= restore_reruns.up_to)
      and not exists (
        select from runledger.rerun_from_log derived
        where derived.submission_id = x.submission_id
          and (derived.rerun_of, derived.campaign) is not distinct from (x.rerun_of, x.campaign)
      )
    returning x.submission_id
  )
  select array_agg(removed.submission_id) into _removed from removed;

  with restored as (
    insert into runledger.rerun (submission_id, rerun_of, campaign)
    select derived.submission_id, derived.rerun_of, derived.campaign
    from runledger.rerun_from_log derived
    where derived.submission_id > restore_reruns.after
      and (restore_reruns.up_to is null or derived.submission_id <= restore_reruns.up_to)
      and not exists (select from runledger.rerun x where x.submission_id = derived.submission_id)
    on conflict do nothing
    returning submission_id
  )
  select array_agg(restored.submission_id) into _restored from restored;
  return (select count(distinct id) from unnest(_removed || _restored) id);
end
$$;
comment on function runledger.restore_reruns is 'Makes runledger.rerun as the log has it, of the submissions after one id and up to another, or to the last; returns how many rows were not. Called by functions that run as the owner.';
