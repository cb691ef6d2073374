create or replace function runledger.end_key(
  api_key_id uuid,
  ends_at timestamptz,
  type text,
  schema_version integer,
  data jsonb,
  metadata jsonb
) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update runledger.api_key k
  set revoked_at = case when end_key.type = 'api_key.revoked' then end_key.ends_at end,
    expires_at = case when end_key.type = 'api_key.rotated' then least(k.expires_at, end_key.ends_at) else k.expires_at end
  where k.id = end_key.api_key_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > now());
  if not found then
    return false;
  end if;
  perform runledger.append_event(
    end_key.api_key_id,
    (select max(event.stream_version) + 1 from runledger.event where event.stream_id = end_key.api_key_id),
    end_key.type, end_key.schema_version, end_key.data, end_key.metadata
  );
  return true;
end
$$;
comment on function runledger.end_key is 'Revokes a key (api_key.revoked) or sets the end of its overlap (api_key.rotated); never later than it would have ended anyway; false when it is unknown, revoked or expired.';
