-- What was told of a run is not needed after its end: the record has it all, or another attempt tells it anew.

create or replace function runledger.forget_output(submission_id uuid, run text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  delete from runledger.live_output o
  where o.submission_id = forget_output.submission_id and o.run = forget_output.run;
end
$$;
comment on function runledger.forget_output is 'Removes what tell_output has kept of one attempt: another one''s may be told already.';
