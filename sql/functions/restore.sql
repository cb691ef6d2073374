-- Where unfinished submissions stand, put back as the log has it. What the log does not have: running ones were admitted; the
-- reconciler admits the others, but not those of keys without a limit. A position comes with the job.

create or replace function runledger.refresh_submission(submission_id uuid) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _before runledger.pending;
  _after runledger.pending;
  _count integer;
begin
  select * into _before from runledger.pending p where p.submission_id = refresh_submission.submission_id for update;
  delete from runledger.pending p
  where p.submission_id = refresh_submission.submission_id
    and not exists (select from runledger.pending_from_log derived where derived.submission_id = p.submission_id);
  update runledger.pending p
  set account_id = derived.account_id, api_key_id = derived.api_key_id, language = derived.language, is_low = derived.is_low,
    requires = derived.requires, version = derived.version, hash = derived.hash, is_running = derived.is_running,
    is_cancelled = derived.is_cancelled, attempts = derived.attempts, run = derived.run, worker_id = derived.worker_id,
    runtime = derived.runtime, created_at = derived.created_at, started_at = derived.started_at, tag = derived.tag,
    output_encoding = derived.output_encoding, rerun_of = derived.rerun_of
  from runledger.pending_from_log derived
  where p.submission_id = refresh_submission.submission_id and derived.submission_id = p.submission_id
  returning p.* into _after;
  delete from runledger.result r
  where r.id = refresh_submission.submission_id
    and not exists (select from runledger.result_from_log derived where derived.id = r.id and derived is not distinct from r);
  insert into runledger.result
  select * from runledger.result_from_log derived
  where derived.id = refresh_submission.submission_id
    and not exists (select from runledger.result r where r.id = derived.id);
  get diagnostics _count = row_count;
  return _count > 0 or _after is distinct from _before
    or runledger.insert_pending(array[refresh_submission.submission_id]) > 0;
end
$$;
comment on function runledger.refresh_submission is 'Makes the rows of runledger.pending and runledger.result as the log has the submission; true when they were not so.';

create or replace function runledger.restore_pending(after uuid, up_to uuid) returns integer
language plpgsql
as $$
begin
  return runledger.insert_pending(array(
    select d.submission_id from runledger.pending_from_log d
    where d.submission_id > restore_pending.after and d.submission_id <= restore_pending.up_to
      and not exists (select from runledger.pending p where p.submission_id = d.submission_id)
  ));
end
$$;
comment on function runledger.restore_pending is 'Puts back what runledger.pending lacks of the submissions after one id and up to another; returns how many. Called by functions that run as the owner.';

create or replace function runledger.insert_pending(submission_ids uuid[]) returns integer
language plpgsql
as $$
declare
  _count integer;
begin
  insert into runledger.pending (
    submission_id, account_id, api_key_id, language, is_low, requires, admitted, position, version, hash, is_running, is_cancelled,
    attempts, run, worker_id, runtime, created_at, started_at, tag, output_encoding, rerun_of
  )
  select
    d.submission_id, d.account_id, d.api_key_id, d.language, d.is_low, d.requires,
    d.is_running or tier.concurrent_executions is null,
    case when not d.is_low and j.run_at < timestamptz '2020-01-01 00:00Z' then
      (extract(epoch from j.run_at) * 1000000)::bigint
    end,
    d.version, d.hash, d.is_running, d.is_cancelled, d.attempts, d.run, d.worker_id, d.runtime, d.created_at, d.started_at, d.tag,
    d.output_encoding, d.rerun_of
  from runledger.pending_from_log d
  join runledger.api_key k on k.id = d.api_key_id
  join runledger.tier on tier.name = k.tier
  left join graphile_worker.jobs j on j.key = d.submission_id::text
  where d.submission_id = any (insert_pending.submission_ids)
  on conflict do nothing;
  get diagnostics _count = row_count;
  return _count;
end
$$;
comment on function runledger.insert_pending is 'Adds rows of runledger.pending by the log, of those of these submissions that are unfinished and have none; returns how many.';

-- The reconciler's step through all submissions.

create or replace function runledger.restore_next_pending(after uuid, batch integer, out last uuid, out restored integer)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  select next.last into last
  from runledger.find_next_submissions(restore_next_pending.after, restore_next_pending.batch) next;
  restored := runledger.restore_pending(restore_next_pending.after, last);
end
$$;
comment on function runledger.restore_next_pending is 'restore_pending for the next so many submissions after the given id. last: the last of them, null when there was none.';
