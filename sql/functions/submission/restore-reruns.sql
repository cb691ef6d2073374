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
