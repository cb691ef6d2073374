-- Finds an operator's key. What it asks for is shared or bounded elsewhere, so no request is counted.

create or replace function runledger.admit_operator(digest bytea)
returns table (api_key_id uuid, key_digest bytea, read_only boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select k.id, k.digest, k.read_only
  from runledger.api_key k
  where k.digest = admit_operator.digest
    and k.role = 'operator'
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > now())
$$;
comment on function runledger.admit_operator is 'The operator''s key with this digest, if it is valid. No row: no such key.';
