-- Accepts submissions of several requests in one transaction and round trip. Each is received or refused by itself; those of
-- which nothing more is to be asked are stored together.

create or replace function runledger.receive_several(items jsonb)
returns table (id uuid, replayed boolean, matches boolean, refusal text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
-- As runledger.apply_events.
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
-- Nobody waits for what another one of them waits for, and two calls never for each other.
set lock_timeout = '10ms'
as $$
declare
  -- All with the capacity of the process that calls; those of one call count together.
  _has_room boolean := runledger.has_room(
    jsonb_array_length(receive_several.items), (receive_several.items #>> '{0,request,capacity}')::integer
  );
  _blocked uuid[] := '{}';
  _is_durable boolean := false;
  _item record;
  _plain runledger.arrival[] := '{}';
begin
  for _item in
    select
      e.item, runledger.read_arrival(request, e.item, k.account_id, tier.weight) as arrival, request.api_key_id,
      request.told_to is null as is_durable,
      _has_room and k.id is not null and request.idempotency_key is null and not request.data ? 'blobs' and tier.concurrent_executions is null as is_plain
    from jsonb_array_elements(receive_several.items) with ordinality e (item, n)
    cross join lateral jsonb_populate_record(null::runledger.submission_request, e.item -> 'request') request
    left join runledger.api_key k on k.id = request.api_key_id
    left join runledger.tier on tier.name = k.tier
    order by e.n
  loop
    _is_durable := _is_durable or _item.is_durable;
    refusal := null;
    if _item.is_plain then
      _plain := _plain || _item.arrival;
      receive_several.id := ((_item.arrival).request).submission_id;
      receive_several.replayed := false;
      receive_several.matches := true;
      return next;
      continue;
    end if;
    receive_several.id := null;
    receive_several.replayed := null;
    receive_several.matches := null;
    begin
      if _item.api_key_id = any (_blocked) then
        raise lock_not_available;
      end if;
      select received.id, received.replayed, received.matches
      into strict receive_several.id, receive_several.replayed, receive_several.matches
      from runledger.receive_submission(
        case when _has_room then (_item.item -> 'request') - 'capacity' else _item.item -> 'request' end,
        (_item.arrival).code, (_item.arrival).stdin, (_item.arrival).expected_stdout, (_item.arrival).detail
      ) received;
    exception
      when lock_not_available then
        _blocked := _blocked || _item.api_key_id;
        refusal := sqlstate;
      when others then
        refusal := sqlstate;
    end;
    return next;
  end loop;

  -- Those that somebody waits for need not wait for the disk (runledger.receive_submission says why).
  perform set_config('synchronous_commit', case when _is_durable then 'on' else 'off' end, true);
  if cardinality(_plain) > 0 then
    perform runledger.store_arrivals(_plain);
  end if;
  -- As receive_submission, whose callers came first.
  perform runledger.refuse_late();
end
$$;
comment on function runledger.receive_several is 'Receives each item (what receive_submission takes, the bodies in base64) as that does. One row an item, in their order; refusal: the SQLSTATE with which it failed, and nothing was written of it. 55P03: it or its key''s other one would have had to wait. 57014, 55P03: nothing was written of any.';
