-- API keys: issued, changed, ended, and the key of operators.

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
