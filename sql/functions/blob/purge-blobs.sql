-- Retention of blobs. What an unfinished submission names stays, however long it waits.

create or replace function runledger.purge_blobs(older_than interval, batch integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- used_at may lie half a day before the last use; the other half keeps this away from submissions that are being received
  -- (runledger.use_blobs).
  _before timestamptz := now() - purge_blobs.older_than - interval '1 day';
  _purged integer;
begin
  if not exists (select from runledger.blob b where b.used_at < _before)
    or not pg_try_advisory_xact_lock(71830, -7)
  then
    return 0;
  end if;
  with named as materialized (
    select (received.data ->> 'account')::uuid as account_id, decode(blob ->> 'sha256', 'hex') as sha256
    from runledger.pending p
    join runledger.event received on received.stream_id = p.submission_id and received.stream_version = 1
    cross join jsonb_array_elements(received.data -> 'blobs') blob
  ),
  old as (
    select b.account_id, b.sha256
    from runledger.blob b
    where b.used_at < _before
      and not exists (select from named n where n.account_id = b.account_id and n.sha256 = b.sha256)
    order by b.used_at
    limit purge_blobs.batch
    for update of b skip locked
  ),
  purged as (
    delete from runledger.blob b using old
    where b.account_id = old.account_id and b.sha256 = old.sha256
    returning b.account_id, b.bytes
  ),
  freed as (
    update runledger.account a set blob_bytes = a.blob_bytes - sum.bytes
    from (select p.account_id, sum(runledger.count_blob(p.bytes)) as bytes from purged p group by p.account_id) sum
    where a.id = sum.account_id
  )
  select count(*) into _purged from purged;
  return _purged;
end
$$;
comment on function runledger.purge_blobs is 'Removes at most `batch` blobs that were last used longer ago than that (and a day at most) and that no unfinished submission names; returns how many. 0: there are none left, or somebody else is at it.';
