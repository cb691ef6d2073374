-- Checks API keys and their request rates.

create or replace function runledger.admit_request(digest bytea, role text default 'submit')
returns table (
  api_key_id uuid, account_id uuid, key_digest bytea, admitted boolean, quota integer, remaining integer,
  reset_seconds integer, limits jsonb, batch_items integer, read_only boolean
)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- With more entries, requests within a quarter of a second share one, which makes their window so much longer.
  _exact_most constant integer := 100;
  _shared constant interval := '0.25 seconds';
  _times timestamptz[];
  _counts integer[];
  _entry integer := 1;
  _used bigint;
  _leaving bigint;
  _now timestamptz;
begin
  select
    k.id, k.account_id, k.digest, k.read_only, tier.limits, tier.batch_items,
    -- Operators' requests are not counted, because their work is shared or bounded elsewhere.
    case k.role when 'submit' then tier.requests_per_minute end
  into api_key_id, account_id, key_digest, read_only, limits, batch_items, quota
  from runledger.api_key k
  join runledger.tier on tier.name = k.tier
  where k.digest = admit_request.digest
    and k.role = admit_request.role
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > now());
  if not found then
    return;
  end if;

  admitted := true;
  if quota is not null then
    -- Losing the window in a crash is harmless.
    perform set_config('synchronous_commit', 'off', true);
    insert into runledger.rate_window (api_key_id, admitted_at, requests)
    values (admit_request.api_key_id, '{}', '{}')
    on conflict do nothing;
    select w.admitted_at, w.requests into _times, _counts
    from runledger.rate_window w
    where w.api_key_id = admit_request.api_key_id
    for update;

    _now := clock_timestamp(); -- read after the row lock, so that times in the window ascend
    while _times[_entry] <= _now - interval '60 seconds' loop
      _entry := _entry + 1;
    end loop;
    _times := _times[_entry:];
    _counts := _counts[_entry:];
    _used := (select coalesce(sum(count), 0) from unnest(_counts) count);
    admitted := _used < quota;
    if admitted then
      _entry := cardinality(_times);
      if _entry > _exact_most and _times[_entry - 1] > _now - _shared then
        _times[_entry] := _now;
        _counts[_entry] := _counts[_entry] + 1;
      else
        _times := _times || _now;
        _counts := _counts || 1;
      end if;
      _used := _used + 1;
      update runledger.rate_window w set admitted_at = _times, requests = _counts
      where w.api_key_id = admit_request.api_key_id;
    end if;
    remaining := greatest(0, quota - _used);
    -- After a move to a narrower tier the window may hold more than the quota.
    _leaving := _used - quota;
    _entry := 1;
    while _leaving >= _counts[_entry] loop
      _leaving := _leaving - _counts[_entry];
      _entry := _entry + 1;
    end loop;
    reset_seconds := greatest(1, ceil(extract(epoch from _times[_entry] + interval '60 seconds' - _now)));
  end if;
  return next;
end
$$;
comment on function runledger.admit_request is 'Returns the valid key with this digest and role, and whether its rate window admits one more request; an operator''s key has no window. No row: there is no such key. reset_seconds: the window admits at least one more request after this many seconds. limits: the upper bounds of a submission''s limits; batch_items: the most items of a batch.';
