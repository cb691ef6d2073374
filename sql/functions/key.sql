-- API keys: checked with their request rates, issued, changed, ended, and the key of operators.

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

create or replace function runledger.issue_key(
  api_key_id uuid, account_id uuid, digest bytea, schema_version integer, data jsonb, metadata jsonb
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- An operator's key must not be rotated into a key that submits, nor the reverse.
  if exists (
    select from runledger.api_key k
    where k.id = (issue_key.data ->> 'replaces')::uuid and k.role <> coalesce(issue_key.data ->> 'role', 'submit')
  ) then
    raise exception 'a key is replaced by one of its own role' using errcode = 'RL024';
  end if;
  insert into runledger.account (id, name)
  values (issue_key.account_id, issue_key.data ->> 'account')
  on conflict (name) do nothing;
  insert into runledger.api_key (id, account_id, tier, label, digest, expires_at, role, read_only, name)
  select
    issue_key.api_key_id, account.id, issue_key.data ->> 'tier', issue_key.data ->> 'label', issue_key.digest,
    (issue_key.data ->> 'expires_at')::timestamptz, coalesce(issue_key.data ->> 'role', 'submit'),
    coalesce((issue_key.data ->> 'read_only')::boolean, false), issue_key.data ->> 'name'
  from runledger.account
  where account.name = issue_key.data ->> 'account';
  perform runledger.append_event(
    issue_key.api_key_id, 1, 'api_key.issued', issue_key.schema_version, issue_key.data, issue_key.metadata
  );
end
$$;
comment on function runledger.issue_key is 'Stores a key''s digest and appends api_key.issued. data: of the event, and what is stored beside the digest. Creates the account, with this id, if none has its name. RL024: the key replaces a key of another role.';

create or replace function runledger.change_key(
  api_key_id uuid, type text, schema_version integer, data jsonb, metadata jsonb
) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update runledger.api_key k
  set tier = coalesce(change_key.data ->> 'tier', k.tier),
    revoked_at = case when change_key.type = 'api_key.revoked' then clock_timestamp() end,
    expires_at = least(k.expires_at, (change_key.data ->> 'works_until')::timestamptz)
  where k.id = change_key.api_key_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > now());
  if not found then
    return false;
  end if;
  perform runledger.append_event(
    change_key.api_key_id, null, change_key.type, change_key.schema_version, change_key.data, change_key.metadata
  );
  return true;
end
$$;
comment on function runledger.change_key is 'Moves a key to another tier (api_key.changed, data.tier), revokes it (api_key.revoked) or sets the end of its overlap (api_key.rotated, data.works_until), which never extends it, and appends that event. False when the key is unknown, revoked or expired. 23503: there is no such tier.';

-- An operator's submissions belong to an account, and every submission needs a key. They get this key, so that they use up no
-- caller's limit. Its label looks like no caller's label, and its digest is of a random text that nobody has seen.

create or replace function runledger.find_operator_key(
  account_id uuid, api_key_id uuid, schema_version integer, metadata jsonb
) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _label constant text := 'operator';
  _name text;
  _known uuid;
begin
  -- Calls for one account take turns, so that they create one key.
  select account.name into _name from runledger.account
  where account.id = find_operator_key.account_id
  for no key update;
  if not found then
    return null;
  end if;
  select k.id into _known from runledger.api_key k
  where k.account_id = find_operator_key.account_id and k.label = _label;
  if found then
    return _known;
  end if;
  perform runledger.issue_key(
    find_operator_key.api_key_id, find_operator_key.account_id,
    sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')), find_operator_key.schema_version,
    -- The key needs no limit, because an operator who submits many keeps few of them under way.
    jsonb_build_object('account', _name, 'tier', 'unlimited', 'label', _label, 'expires_at', null, 'replaces', null),
    find_operator_key.metadata
  );
  perform runledger.change_key(
    find_operator_key.api_key_id, 'api_key.revoked', find_operator_key.schema_version, '{}', find_operator_key.metadata
  );
  return find_operator_key.api_key_id;
end
$$;
comment on function runledger.find_operator_key is 'Returns the key of the account under which operators submit; creates it with this id when there is none, and revokes it at once. Null: there is no such account. 23503: there is no tier `unlimited`.';
