create or replace function runledger.read_blob_load() returns bigint
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select coalesce(sum(a.blob_bytes), 0)::bigint from runledger.account a
$$;
comment on function runledger.read_blob_load is 'Bytes that all blobs count, for metrics.';
