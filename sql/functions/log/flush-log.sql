-- Makes sure that all commits so far are on disk.

create or replace function runledger.flush_log() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Waiting for a commit waits for all before it, but only if it writes.
  perform set_config('synchronous_commit', 'on', true);
  perform pg_logical_emit_message(true, 'runledger', '');
end
$$;
comment on function runledger.flush_log is 'When it has been committed, everything that was committed before it is on disk: for who tells of a submission before it has ended, although it was received with a channel to tell.';
