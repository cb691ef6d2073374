-- What lost workers and lost web processes have left.

create or replace function runledger.forget_unwatched() returns void
language plpgsql
as $$
begin
  delete from runledger.watch w where w.expires_at < now();
  delete from runledger.live_output o
  where not exists (select from runledger.watch w where w.submission_id = o.submission_id);
end
$$;
comment on function runledger.forget_unwatched is 'Removes expired watches, and live output that nobody watches. Called by functions that run as the owner.';
