-- Without its row here an unfinished submission would wait for ever.

create or replace function runledger.restore_pending(after uuid, up_to uuid) returns integer
language plpgsql
as $$
declare
  _count integer;
begin
  -- The log does not say what was admitted: running ones were. The reconciler admits the others, but not those of keys
  -- without a limit.
  insert into runledger.pending (submission_id, account_id, api_key_id, admitted, is_low, position, is_running)
  select
    derived.submission_id, derived.account_id, derived.api_key_id,
    coalesce(r.status = 'running', false) or tier.concurrent_executions is null,
    derived.is_low,
    -- What has no job gets a position with it.
    case when not derived.is_low and j.run_at < timestamptz '2020-01-01 00:00Z' then
      (extract(epoch from j.run_at) * 1000000)::bigint
    end,
    coalesce(r.status = 'running', false)
  from runledger.pending_from_log derived
  left join runledger.result r on r.id = derived.submission_id
  join runledger.api_key k on k.id = derived.api_key_id
  join runledger.tier on tier.name = k.tier
  left join graphile_worker.jobs j on j.key = derived.submission_id::text
  where derived.submission_id > restore_pending.after and derived.submission_id <= restore_pending.up_to
    and not exists (select from runledger.pending p where p.submission_id = derived.submission_id)
  on conflict do nothing;
  get diagnostics _count = row_count;
  return _count;
end
$$;
comment on function runledger.restore_pending is 'Puts back what runledger.pending lacks of the submissions after one id and up to another; returns how many. Called by functions that run as the owner.';
