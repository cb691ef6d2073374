-- The ledger held against what it promises, a step at a time in the order of ids: for the reconciler, for operators and for
-- `audit verify`. A step takes a list of streams and asks the audit views for these only, so it costs the same however long
-- the log is.

create or replace function runledger.verify(
  after uuid, events integer, also uuid[] default '{}', bodies boolean default false
) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp
-- Whatever the planner thinks of a list's length, only index lookups are bounded.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
-- What is turned off is reckoned so dear that every plan would be compiled: seconds, for milliseconds of work.
set jit = off
set plan_cache_mode = force_custom_plan
as $$
declare
  _last_id constant uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  _suspects_most constant integer := 100;
  _next uuid;
  _streams uuid[];
  _events bigint;
  _log_begins timestamptz;
  _share double precision := 1;
begin
  -- One step at a time, whoever asks.
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
  _streams := verify.also || runledger.list_streams(verify.after, coalesce(_next, _last_id), verify.events);
  if _next is not null then
    -- Tiers' streams have ids of no time.
    select runledger.uuid_time(e.stream_id) into _log_begins from runledger.event e
    where e.stream_id > runledger.uuid_floor('2000-01-01')
    order by e.stream_id limit 1;
    _share := greatest(0, least(1, coalesce(
      extract(epoch from runledger.uuid_time(_next) - _log_begins) / nullif(extract(epoch from now() - _log_begins), 0), 0
    )));
  end if;

  return (
    with finding as materialized (
      select 'drift' as "check", d.id as stream, null::bigint as position, d.projection || ' ' || d.id as what
      from audit.drift d where d.id = any (_streams)
      union all
      select
        'broken_chain', b.stream_id, b.position, format(
          'position %s, %s, version %s of stream %s, recorded %s', b.position, b.type, b.stream_version, b.stream_id,
          to_char(b.recorded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        )
      from audit.broken_chain b where b.stream_id = any (_streams)
      union all
      select 'invariant', i.subject, null, i.broken || ': ' || i.subject
      from audit.invariant i where i.subject = any (_streams)
      union all
      select 'altered_body', a.submission_id, null, a.part || ' of ' || a.submission_id
      from audit.altered_body a where verify.bodies and a.submission_id = any (_streams)
    )
    select jsonb_build_object(
      'events', _events,
      'drift', count(*) filter (where f."check" = 'drift'),
      'broken_chain', count(*) filter (where f."check" = 'broken_chain'),
      'invariant', count(*) filter (where f."check" = 'invariant'),
      'altered_body', count(*) filter (where f."check" = 'altered_body'),
      'suspects', coalesce(to_jsonb((array_agg(distinct f.stream))[1:_suspects_most]), '[]'),
      'first', (
        select coalesce(jsonb_agg(f1), '[]')
        from (
          select distinct on (f."check") f."check", f.position, f.what from finding f
          order by f."check", f.position, f.stream
        ) f1
      ),
      'next', _next,
      'share', _share,
      'busy', false
    )
    from finding f
  );
end
$$;
comment on function runledger.verify is 'Checks the streams after an id, of about so many events, and some others: counts of rows in audit.drift, audit.broken_chain, audit.invariant and, with bodies, audit.altered_body; the first hundred streams in which something was found; the first finding of each check; next (null at the end); share, how much of the log''s time is behind it. busy: somebody else''s step is under way; try again.';

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
comment on function runledger.check_ledger is 'The reconciler''s step, unless there was one in the last 8 seconds: verifies the streams of the newest so many events, the next so many of a walk through the whole log that begins again at its end, and those in which something was found before; puts what it found into runledger.ledger_check. Returns up to ten streams in which nothing had been found before.';

create or replace function runledger.list_streams(after uuid, up_to uuid, most integer) returns uuid[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_custom_plan
as $$
begin
  return array(
    select e.stream_id from runledger.event e
    where e.stream_id > list_streams.after and e.stream_id <= list_streams.up_to
    -- Rows that the log knows nothing of. Of more than there are events the first few say enough.
    union (
      select r.id from runledger.result r
      where r.id > list_streams.after and r.id <= list_streams.up_to order by r.id limit list_streams.most
    )
    union (
      select p.submission_id from runledger.pending p
      where p.submission_id > list_streams.after and p.submission_id <= list_streams.up_to
      order by p.submission_id limit list_streams.most
    )
    union (
      select unnest(array[d.submission_id, d.webhook_id]) from runledger.delivery d
      where d.submission_id > list_streams.after and d.submission_id <= list_streams.up_to
      order by d.submission_id limit list_streams.most
    )
    union (
      select x.submission_id from runledger.rerun x
      where x.submission_id > list_streams.after and x.submission_id <= list_streams.up_to
      order by x.submission_id limit list_streams.most
    )
  );
end
$$;
comment on function runledger.list_streams is 'The streams of the log from after one id up to another, and at most so many ids each of what is made from it.';
