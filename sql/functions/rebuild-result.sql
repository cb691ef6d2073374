-- Projections are caches: this makes them anew from the log alone.

create or replace function runledger.rebuild_result() returns bigint
language plpgsql security definer set search_path = ''
as $$
declare
  _rows bigint;
begin
  delete from runledger.result;
  insert into runledger.result select * from runledger.result_from_log;
  get diagnostics _rows = row_count;
  return _rows;
end
$$;
comment on function runledger.rebuild_result is 'Replaces every cached result by what the log says; returns how many. Readers see the old ones until it commits.';
