create or replace function runledger.add_blob_chunk(api_key_id uuid, sha256 bytea, number integer, content bytea) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into runledger.blob_chunk (account_id, sha256, number, content)
  select b.account_id, b.sha256, add_blob_chunk.number, add_blob_chunk.content
  from runledger.api_key k
  join runledger.blob b on b.account_id = k.account_id and b.sha256 = add_blob_chunk.sha256
  where k.id = add_blob_chunk.api_key_id and b.xmin = pg_current_xact_id()::xid;
  if not found then
    raise exception 'a blob is written once' using errcode = '55000';
  end if;
end
$$;
comment on function runledger.add_blob_chunk is 'Adds a chunk to a blob that this transaction has made. 55000: it has made none of this name, so that nobody changes what is there.';
