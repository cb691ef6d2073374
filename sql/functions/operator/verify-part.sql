-- A step of an operator's walk through the whole log, beside the reconciler's own. One at a time, whoever asks.

create or replace function runledger.verify_part(after uuid, events integer) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _next uuid;
  _streams uuid[];
  _from timestamptz;
  _events bigint;
begin
  if not pg_try_advisory_xact_lock(71830, -6) then
    return jsonb_build_object(
      'events', 0, 'drift', 0, 'broken_chain', 0, 'invariant', 0, 'suspects', '[]'::jsonb,
      'next', verify_part.after, 'share', null, 'busy', true
    );
  end if;
  select e.stream_id into _next from runledger.event e
  where e.stream_id > verify_part.after
  order by e.stream_id, e.stream_version offset verify_part.events limit 1;
  _streams := runledger.list_walked(
    verify_part.after, coalesce(_next, 'ffffffff-ffff-ffff-ffff-ffffffffffff'), verify_part.events
  );
  select count(*) into _events from runledger.event e
  where e.stream_id > verify_part.after and e.stream_id <= coalesce(_next, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  -- Tiers' streams have ids of no time.
  select runledger.uuid_time(e.stream_id) into _from from runledger.event e
  where e.stream_id > runledger.uuid_floor('2000-01-01')
  order by e.stream_id limit 1;
  return (
    select jsonb_build_object(
      'events', _events,
      'drift', count(*) filter (where f.finding = 'drift'),
      'broken_chain', count(*) filter (where f.finding = 'broken_chain'),
      'invariant', count(*) filter (where f.finding = 'invariant'),
      'suspects', coalesce(to_jsonb((array_agg(distinct f.stream))[1:10]), '[]'),
      'next', _next,
      'share', case when _next is null then 1 else greatest(0, least(1, coalesce(
        extract(epoch from runledger.uuid_time(_next) - _from) / nullif(extract(epoch from now() - _from), 0), 0
      ))) end,
      'busy', false
    )
    from runledger.find_faults(_streams) f
  );
end
$$;
comment on function runledger.verify_part is 'Holds the streams after this id, of about so many events, against audit.drift, audit.broken_chain and audit.invariant: how many rows each has, the first ten streams, next (null at the end), and how much of the log''s time was gone through. busy: another walk took its step; try again.';
