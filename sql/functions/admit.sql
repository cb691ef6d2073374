-- Checks API keys and their request rates.

create or replace function runledger.admit_request(digest bytea, role text default 'submit')
returns table (
  api_key_id uuid, account_id uuid, key_digest bytea, admitted boolean, quota integer, remaining integer,
  reset_seconds integer, limits jsonb, batch_items integer, read_only boolean
)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _times timestamptz[];
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
    insert into runledger.rate_window (api_key_id, admitted_at)
    values (admit_request.api_key_id, '{}')
    on conflict do nothing;
    select w.admitted_at into _times
    from runledger.rate_window w
    where w.api_key_id = admit_request.api_key_id
    for update;

    _now := clock_timestamp(); -- read after the row lock, so that times in the window ascend
    _times := array(select t from unnest(_times) t where t > _now - interval '60 seconds' order by t);
    admitted := cardinality(_times) < quota;
    if admitted then
      _times := _times || _now;
      update runledger.rate_window w set admitted_at = _times where w.api_key_id = admit_request.api_key_id;
    end if;
    remaining := greatest(0, quota - cardinality(_times));
    -- After a move to a narrower tier the window may hold more than the quota.
    reset_seconds := greatest(1, ceil(extract(epoch from
      _times[greatest(1, cardinality(_times) - quota + 1)] + interval '60 seconds' - _now
    )));
  end if;
  return next;
end
$$;
comment on function runledger.admit_request is 'Returns the valid key with this digest and role, and whether its rate window admits one more request; an operator''s key has no window. No row: there is no such key. reset_seconds: the window admits at least one more request after this many seconds. limits: the upper bounds of a submission''s limits; batch_items: the most items of a batch.';
