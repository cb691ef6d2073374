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
