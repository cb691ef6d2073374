-- A part of a walk through the whole log, in the order of ids.

create or replace function runledger.list_walked(after uuid, up_to uuid, most integer) returns uuid[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_custom_plan
as $$
begin
  return array(
    select e.stream_id from runledger.event e
    where e.stream_id > list_walked.after and e.stream_id <= list_walked.up_to
    -- Rows that the log knows nothing of. Of more than there are events the first few say enough.
    union (
      select r.id from runledger.result r
      where r.id > list_walked.after and r.id <= list_walked.up_to order by r.id limit list_walked.most
    )
    union (
      select p.submission_id from runledger.pending p
      where p.submission_id > list_walked.after and p.submission_id <= list_walked.up_to
      order by p.submission_id limit list_walked.most
    )
    union (
      select unnest(array[d.submission_id, d.webhook_id]) from runledger.delivery d
      where d.submission_id > list_walked.after and d.submission_id <= list_walked.up_to
      order by d.submission_id limit list_walked.most
    )
    union (
      select x.submission_id from runledger.rerun x
      where x.submission_id > list_walked.after and x.submission_id <= list_walked.up_to
      order by x.submission_id limit list_walked.most
    )
  );
end
$$;
comment on function runledger.list_walked is 'The streams of the log from after one id up to another, and at most so many ids each of what is made from it.';
