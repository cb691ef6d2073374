create or replace function runledger.find_blobs(account_id uuid, names text[]) returns table (name text, bytes integer)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select encode(b.sha256, 'hex'), b.bytes
  from runledger.blob b
  where b.account_id = find_blobs.account_id
    and b.sha256 = any (array(select decode(asked, 'hex') from unnest(find_blobs.names) asked))
$$;
comment on function runledger.find_blobs is 'Those of an account''s blobs that have one of these names (SHA-256 in hexadecimal), with their sizes.';
