-- What an operator submits belongs to an account, and every submission to a key: to this one of the account, whose places are
-- nobody's. Its label begins as no caller's does; its digest is of no text that anybody has seen.

create or replace function runledger.find_operator_key(
  account_id uuid,
  api_key_id uuid,
  schema_version integer,
  metadata jsonb
) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _label constant text := 'operator';
  -- Whoever submits many keeps few under way.
  _tier constant text := 'unlimited';
  _name text;
  _known uuid;
begin
  -- In turns, so that there is one.
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
    find_operator_key.api_key_id, find_operator_key.account_id, _name, _tier, _label,
    sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')), null,
    find_operator_key.schema_version,
    jsonb_build_object('account', _name, 'tier', _tier, 'label', _label, 'expires_at', null, 'replaces', null),
    find_operator_key.metadata
  );
  perform runledger.end_key(
    find_operator_key.api_key_id, clock_timestamp(), 'api_key.revoked', find_operator_key.schema_version, '{}',
    find_operator_key.metadata
  );
  return find_operator_key.api_key_id;
end
$$;
comment on function runledger.find_operator_key is 'The key of the account under which operators submit; made with this id when there is none, and revoked at once. Null: there is no such account. 23503: there is no tier `unlimited`.';
