-- Accepts submissions of several requests in one transaction and round trip. Each is received or refused by itself.

create or replace function runledger.receive_several(items jsonb)
returns table (id uuid, replayed boolean, matches boolean, refusal text)
language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan
-- Nobody waits for what another one of them waits for, and two calls never for each other.
set lock_timeout = '10ms'
as $$
declare
  -- All with the capacity of the process that calls; those of one call count together.
  _has_room boolean := runledger.has_room(
    jsonb_array_length(receive_several.items), (receive_several.items #>> '{0,request,capacity}')::integer
  );
  _blocked text[] := '{}';
  _is_durable boolean := false;
  _item jsonb;
  _key text;
begin
  for _item in
    select element from jsonb_array_elements(receive_several.items) with ordinality e (element, n) order by n
  loop
    _key := _item #>> '{request,api_key_id}';
    _is_durable := _is_durable or _item #>> '{request,told_to}' is null;
    receive_several.id := null;
    receive_several.replayed := null;
    receive_several.matches := null;
    refusal := null;
    begin
      if _key = any (_blocked) then
        raise lock_not_available;
      end if;
      select received.id, received.replayed, received.matches
      into strict receive_several.id, receive_several.replayed, receive_several.matches
      from runledger.receive_submission(
        case when _has_room then (_item -> 'request') - 'capacity' else _item -> 'request' end,
        decode(_item ->> 'code', 'base64'),
        decode(_item ->> 'stdin', 'base64'),
        decode(_item ->> 'expected_stdout', 'base64'),
        decode(_item ->> 'detail', 'base64')
      ) received;
    exception
      when lock_not_available then
        _blocked := _blocked || _key;
        refusal := sqlstate;
      when others then
        refusal := sqlstate;
    end;
    return next;
  end loop;

  if _is_durable then
    -- One that somebody waits for has told the commit not to wait for the disk.
    perform set_config('synchronous_commit', 'on', true);
  end if;
  -- As receive_submission, whose callers came first.
  perform runledger.refuse_late();
end
$$;
comment on function runledger.receive_several is 'Receives each item (what receive_submission takes, the bodies in base64) as that does. One row an item, in their order; refusal: the SQLSTATE with which it failed, and nothing was written of it. 55P03: it or its key''s other one would have had to wait. 57014, 55P03: nothing was written of any.';
