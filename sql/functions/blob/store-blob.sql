-- Begins to store a blob. Locks are taken in the order blob, account, as runledger.purge_blobs takes them.

create or replace function runledger.store_blob(api_key_id uuid, sha256 bytea, bytes integer, content bytea) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _key record;
begin
  select k.account_id, tier.blob_bytes as quota into strict _key
  from runledger.api_key k
  join runledger.tier on tier.name = k.tier
  where k.id = store_blob.api_key_id;

  loop
    -- Waits for another upload of the same, and for a purge of it.
    insert into runledger.blob (account_id, sha256, bytes)
    values (_key.account_id, store_blob.sha256, store_blob.bytes)
    on conflict on constraint blob_pkey do nothing;
    exit when found;
    update runledger.blob b set used_at = now()
    where b.account_id = _key.account_id and b.sha256 = store_blob.sha256;
    if found then
      return false;
    end if;
    -- A purge had marked it before the update, and has removed it by now.
  end loop;

  update runledger.account a set blob_bytes = a.blob_bytes + runledger.count_blob(store_blob.bytes)
  where a.id = _key.account_id
    and (_key.quota is null or a.blob_bytes + runledger.count_blob(store_blob.bytes) <= _key.quota);
  if not found then
    raise exception 'no more than % bytes of blobs', _key.quota using errcode = 'RL018';
  end if;
  perform runledger.add_blob_chunk(store_blob.api_key_id, store_blob.sha256, 0, store_blob.content);
  return true;
end
$$;
comment on function runledger.store_blob is 'Makes a blob of the key''s account with its first chunk; true: it is new, and the same transaction is to add the others. False: it is there already and was used just now. RL018: with it the account would have more than the key''s tier allows.';
