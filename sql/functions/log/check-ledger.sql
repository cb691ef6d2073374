-- Holds a bounded part of the ledger against audit.drift, audit.broken_chain and audit.invariant, for metrics: what happened
-- last, the next part of a walk through the whole log, and everything in which something was found before.

create or replace function runledger.check_ledger(events integer) returns uuid[]
language plpgsql security definer set search_path = pg_catalog, pg_temp
-- The views are asked for a list of streams. Whatever the planner thinks of its length, only index lookups are bounded.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
-- What is turned off is reckoned so dear that every plan would be compiled: seconds, for milliseconds of work.
set jit = off
set plan_cache_mode = force_custom_plan
as $$
declare
  _suspects_kept constant integer := 100;
  _before runledger.ledger_check;
  _last uuid;
  _up_to uuid;
  _streams uuid[];
  _suspects uuid[];
begin
  -- Every process asks; one of them looks, and the others see that it has.
  if not pg_try_advisory_xact_lock(71830, -5) then
    return '{}';
  end if;
  select * into _before from runledger.ledger_check;
  if _before.checked_at > now() - interval '8 seconds' then
    return '{}';
  end if;

  select e.stream_id into _last from runledger.event e
  where e.stream_id > _before.walked_up_to
  order by e.stream_id, e.stream_version offset check_ledger.events limit 1;
  _up_to := coalesce(_last, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  _streams := array(
    select unnest(_before.suspects)
    union
    select newest.stream_id
    from (select e.stream_id from runledger.event e order by e.position desc limit check_ledger.events) newest
    union
    select unnest(runledger.list_walked(_before.walked_up_to, _up_to, check_ledger.events))
  );

  with found as materialized (
    select * from runledger.find_faults(_streams)
  )
  update runledger.ledger_check set
    checked_at = now(),
    drift = (select count(*) from found where finding = 'drift'),
    broken_chain = (select count(*) from found where finding = 'broken_chain'),
    invariant = (select count(*) from found where finding = 'invariant'),
    suspects = array(select distinct stream from found order by stream limit _suspects_kept),
    walked_up_to = coalesce(_last, '00000000-0000-0000-0000-000000000000'),
    walked_at = case when _last is null then now() else walked_at end
  returning suspects into _suspects;
  return array(select unnest(_suspects) except select unnest(_before.suspects) limit 10);
end
$$;
comment on function runledger.check_ledger is 'Looks, unless another process does or did in the last 8 seconds, at the streams of the newest so many events, at those of the next so many of a walk that goes through the whole log and begins again, and at the first hundred in which something was found; puts into runledger.ledger_check what it found. Returns up to ten streams in which nothing had been found before.';
