-- Makes sure that all that was committed is on disk.

create or replace function runledger.flush_log() returns void
language plpgsql security definer set search_path = ''
as $$
begin
  -- Waiting for a commit is waiting for all before it, and only what writes something is waited for.
  perform set_config('synchronous_commit', 'on', true);
  perform pg_logical_emit_message(true, 'runledger', '');
end
$$;
comment on function runledger.flush_log is 'When it has been committed, everything that was committed before it is on disk: for who tells of a submission that was received as awaited before it has ended.';
