-- Checks the promises of the ledger, step by step in the order of ids, for the reconciler, operators and `audit verify`. A step
-- reads a range of ids, so its cost does not depend on the length of the log.

create or replace function runledger.verify(
  after uuid, events integer, also uuid[] default '{}', bodies boolean default false
) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _last_id constant uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  _suspects_most constant integer := 100;
  _next uuid;
  _events bigint;
  _log_begins timestamptz;
  _share double precision := 1;
begin
  -- Only one step runs at a time, for all callers.
  if not pg_try_advisory_xact_lock(71830, -5) then
    return jsonb_build_object(
      'events', 0, 'drift', 0, 'broken_chain', 0, 'invariant', 0, 'altered_body', 0,
      'suspects', '[]'::jsonb, 'first', '[]'::jsonb, 'next', verify.after, 'share', null, 'busy', true
    );
  end if;
  select e.stream_id into _next from runledger.event e
  where e.stream_id > verify.after
  order by e.stream_id, e.stream_version offset verify.events limit 1;
  select count(*) into _events from runledger.event e
  where e.stream_id > verify.after and e.stream_id <= coalesce(_next, _last_id);
  if _next is not null then
    -- Ids of tiers' streams have time 0.
    select runledger.uuid_time(e.stream_id) into _log_begins from runledger.event e
    where e.stream_id > runledger.uuid_floor('2000-01-01')
    order by e.stream_id limit 1;
    _share := greatest(0, least(1, coalesce(
      extract(epoch from runledger.uuid_time(_next) - _log_begins) / nullif(extract(epoch from now() - _log_begins), 0), 0
    )));
  end if;

  return (
    with finding as materialized (
      select * from runledger.finding f
      where f.stream > verify.after and f.stream <= coalesce(_next, _last_id) and (verify.bodies or f."check" <> 'altered_body')
      union all
      select * from runledger.finding f
      where f.stream = any (verify.also) and not (f.stream > verify.after and f.stream <= coalesce(_next, _last_id))
        and (verify.bodies or f."check" <> 'altered_body')
    ),
    named as (
      select "check", stream, position, what from finding where "check" <> 'promise'
      union all
      select 'invariant', stream, null, promise || ': ' || stream from finding where promise is not null
    )
    select jsonb_build_object(
      'events', _events,
      'drift', count(*) filter (where n."check" = 'drift'),
      'broken_chain', count(*) filter (where n."check" = 'broken_chain'),
      'invariant', count(*) filter (where n."check" = 'invariant'),
      'altered_body', count(*) filter (where n."check" = 'altered_body'),
      'suspects', coalesce(to_jsonb((array_agg(distinct n.stream))[1:_suspects_most]), '[]'),
      'first', (
        select coalesce(jsonb_agg(one), '[]')
        from (
          select distinct on (n."check") n."check", n.position, n.what from named n
          order by n."check", n.position, n.stream
        ) one
      ),
      'next', _next,
      'share', _share,
      'busy', false
    )
    from named n
  );
end
$$;
comment on function runledger.verify is 'Checks the streams after an id, with about so many events, and those in also. Returns the number of rows in audit.drift, audit.broken_chain, audit.invariant and, with bodies, audit.altered_body; the first hundred streams with a finding; the first finding of each check; next (null at the end); share: how much of the log''s time is behind next. busy: another session runs a step; try again.';

create or replace function runledger.check_ledger(events integer) returns uuid[]
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _before runledger.ledger_check;
  _step jsonb;
  _suspects uuid[];
begin
  select * into _before from runledger.ledger_check;
  if _before.checked_at > now() - interval '8 seconds' then
    return '{}';
  end if;
  _step := runledger.verify(_before.walked_up_to, check_ledger.events, array(
    select unnest(_before.suspects)
    union
    select newest.stream_id
    from (select e.stream_id from runledger.event e order by e.position desc limit check_ledger.events) newest
  ));
  if (_step ->> 'busy')::boolean then
    return '{}';
  end if;
  _suspects := array(select jsonb_array_elements_text(_step -> 'suspects')::uuid);
  update runledger.ledger_check set
    checked_at = now(),
    drift = (_step ->> 'drift')::bigint,
    broken_chain = (_step ->> 'broken_chain')::bigint,
    invariant = (_step ->> 'invariant')::bigint,
    suspects = _suspects,
    walked_up_to = coalesce((_step ->> 'next')::uuid, '00000000-0000-0000-0000-000000000000'),
    walked_at = case when _step ->> 'next' is null then now() else walked_at end;
  return array(select unnest(_suspects) except select unnest(_before.suspects) limit 10);
end
$$;
comment on function runledger.check_ledger is 'The reconciler''s step, unless one ran in the last 8 seconds. Verifies the streams of so many newest events, the next so many events of a walk through the whole log, which starts again at its end, and the streams with earlier findings. Stores the findings in runledger.ledger_check. Returns up to ten streams that had no finding before.';
