-- Blobs: uploads in chunks, ids, quotas, purge.

-- Locks are taken in the order blob, account, like in runledger.purge_blobs.

create or replace function runledger.store_blob(api_key_id uuid, sha256 bytea, bytes integer, content bytea) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _key record;
  _is_new boolean;
begin
  select k.account_id, tier.blob_bytes as quota into strict _key
  from runledger.api_key k
  join runledger.tier on tier.name = k.tier
  where k.id = store_blob.api_key_id;

  -- Waits for a concurrent upload or purge of the same blob.
  insert into runledger.blob as b (account_id, sha256, bytes)
  values (_key.account_id, store_blob.sha256, store_blob.bytes)
  on conflict on constraint blob_pkey do update set used_at = now()
  returning b.xmax = 0 into _is_new; -- an updated row has the transaction that locked it
  if not _is_new then
    return false;
  end if;

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
comment on function runledger.store_blob is 'Creates a blob of the key''s account with its first chunk. True: the blob is new, and the same transaction must add the other chunks. False: the blob exists, and its last use is now. RL018: the account would have more bytes than the key''s tier allows.';

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
comment on function runledger.add_blob_chunk is 'Adds a chunk to a blob that this transaction has created. 55000: this transaction has created no such blob; an existing blob never changes.';

create or replace function runledger.name_file(api_key_id uuid, id text, sha256 bytea) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _account uuid;
begin
  select k.account_id into strict _account from runledger.api_key k where k.id = name_file.api_key_id;
  insert into runledger.file_id (account_id, id, sha256) values (_account, name_file.id, name_file.sha256)
  on conflict on constraint file_id_pkey do update set sha256 = excluded.sha256, named_at = excluded.named_at;
  -- Quotas count blobs but not ids, so the ids of a blob need a bound.
  delete from runledger.file_id f
  where f.account_id = _account and f.id in (
    select older.id from runledger.file_id older
    where older.account_id = _account and older.sha256 = name_file.sha256
    order by older.named_at desc, older.id
    offset 64
  );
end
$$;
comment on function runledger.name_file is 'Gives a blob of the key''s account this id, taking it from another blob that had it. Only the newest 64 ids of the blob are kept.';

create or replace function runledger.read_files(account_id uuid, ids text[], most integer)
returns table (id text, content bytea)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform runledger.use_blobs(array_agg(f.account_id), array_agg(f.sha256))
  from runledger.file_id f
  where f.account_id = read_files.account_id and f.id = any (read_files.ids);

  return query
  with found as materialized (
    select f.id, b.sha256, sum(b.bytes) over () as total
    from runledger.file_id f
    join runledger.blob b on b.account_id = f.account_id and b.sha256 = f.sha256
    where f.account_id = read_files.account_id and f.id = any (read_files.ids)
  )
  select found.id, case when found.total <= read_files.most then (
    select string_agg(c.content, null order by c.number)
    from runledger.blob_chunk c
    where c.account_id = read_files.account_id and c.sha256 = found.sha256
  ) end
  from found;
end
$$;
comment on function runledger.read_files is 'Returns an account''s files with these ids, and notes that they are used. content is null when they have more than `most` bytes in all.';

create or replace function runledger.purge_blobs(older_than interval, batch integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- used_at may be half a day older than the last use. The other half day protects the blobs of submissions that are being
  -- received (runledger.use_blobs).
  _before timestamptz := now() - purge_blobs.older_than - interval '1 day';
  _purged integer;
begin
  if not exists (select from runledger.blob b where b.used_at < _before)
    or not pg_try_advisory_xact_lock(71830, -7)
  then
    return 0;
  end if;
  with named as materialized (
    select p.account_id, blob.sha256
    from runledger.pending p
    join runledger.body b on b.submission_id = p.submission_id
    cross join runledger.list_blobs(b.blobs) blob (sha256)
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
comment on function runledger.purge_blobs is 'Removes at most `batch` blobs that no unfinished submission names and that were last used longer ago than older_than plus half a day to a day; returns how many. 0: none is left, or another session purges now.';

create or replace function runledger.use_blobs(accounts uuid[], digests bytea[]) returns void
language plpgsql
as $$
begin
  -- Protects the blobs from a purge until the submission is committed. A blob used within the last half day cannot be purged
  -- within the next half day. Any other blob is updated here, so a concurrent purge waits, checks again and keeps it.
  perform from runledger.blob b
  where (b.account_id, b.sha256) in (select * from unnest(use_blobs.accounts, use_blobs.digests))
    and b.used_at < now() - interval '12 hours'
  order by b.account_id, b.sha256
  for no key update;
  update runledger.blob b set used_at = now()
  where (b.account_id, b.sha256) in (select * from unnest(use_blobs.accounts, use_blobs.digests))
    and b.used_at < now() - interval '12 hours';
end
$$;
comment on function runledger.use_blobs is 'Notes that a submission which this transaction receives names blobs of these accounts (two arrays of equal length).';

-- A row and its index entries take space, so that even an empty blob counts against the quota.

create or replace function runledger.count_blob(bytes integer) returns integer
language sql immutable parallel safe
as $$
  select greatest(count_blob.bytes, 4096)
$$;
comment on function runledger.count_blob is 'Returns the bytes that a blob of this size counts against the quota: at least 4 KiB.';

create or replace function runledger.list_blobs(list bytea) returns setof bytea
-- Not SQL: PostgreSQL would inline it and decode the list again for each blob.
language plpgsql immutable rows 10
as $$
begin
  return query select substr(list_blobs.list, 32 * n + 1, 32) from generate_series(0, length(list_blobs.list) / 32 - 1) n;
end
$$;
comment on function runledger.list_blobs is 'Returns the SHA-256 of each blob in a list that has the form of runledger.body.blobs.';
