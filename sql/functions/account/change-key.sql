create or replace function runledger.change_key(
  api_key_id uuid,
  tier text,
  schema_version integer,
  data jsonb,
  metadata jsonb
) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update runledger.api_key k
  set tier = change_key.tier
  where k.id = change_key.api_key_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > now());
  if not found then
    return false;
  end if;
  perform runledger.append_event(
    change_key.api_key_id,
    (select max(event.stream_version) + 1 from runledger.event where event.stream_id = change_key.api_key_id),
    'api_key.changed', change_key.schema_version, change_key.data, change_key.metadata
  );
  return true;
end
$$;
comment on function runledger.change_key is 'Brings a key to another tier and appends api_key.changed; false when it is unknown, revoked or expired. 23503: there is no such tier.';
