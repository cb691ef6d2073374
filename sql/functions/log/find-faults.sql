-- What the audit views say of some streams. Views of the whole log, asked for a list.

create or replace function runledger.find_faults(streams uuid[])
returns table (finding text, stream uuid)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
-- Whatever the planner thinks of the list's length, only index lookups are bounded.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
-- What is turned off is reckoned so dear that every plan would be compiled: seconds, for milliseconds of work.
set jit = off
set plan_cache_mode = force_custom_plan
as $$
begin
  return query
    select 'drift', d.id from audit.drift d where d.id = any (find_faults.streams)
    union all
    select 'broken_chain', b.stream_id from audit.broken_chain b where b.stream_id = any (find_faults.streams)
    union all
    select 'invariant', i.subject from audit.invariant i where i.subject = any (find_faults.streams);
end
$$;
comment on function runledger.find_faults is 'One row for each row that audit.drift, audit.broken_chain and audit.invariant have of these streams.';
