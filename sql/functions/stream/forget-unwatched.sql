-- What lost workers and lost web processes have left.

create or replace function runledger.forget_unwatched() returns void
language plpgsql
as $$
begin
  -- Whoever asks anew has locked it, and goes on to other rows.
  delete from runledger.watch w
  using (
    select old.submission_id, old.channel from runledger.watch old where old.expires_at < now() for update skip locked
  ) expired
  where w.submission_id = expired.submission_id and w.channel = expired.channel;
  delete from runledger.live_output o
  where not exists (select from runledger.watch w where w.submission_id = o.submission_id);
end
$$;
comment on function runledger.forget_unwatched is 'Removes expired watches, and live output that nobody watches. Called by functions that run as the owner.';
